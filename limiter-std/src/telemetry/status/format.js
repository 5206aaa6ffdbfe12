// How numbers and times are written.

function number(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 1e9) return (value / 1e9).toFixed(1) + " G";
  if (size >= 1e6) return (value / 1e6).toFixed(1) + " M";
  if (size >= 1e4) return (value / 1e3).toFixed(1) + " k";
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toString();
  return value.toFixed(1);
}

function time(millis) {
  if (millis === null || millis === undefined) return "–";
  if (millis >= 60_000) return (millis / 60_000).toFixed(1) + " min";
  if (millis >= 1_000) return (millis / 1_000).toFixed(1) + " s";
  if (millis >= 10) return Math.round(millis) + " ms";
  if (millis >= 1 || millis === 0) return millis.toFixed(1) + " ms";
  const micros = millis * 1e3;
  return micros >= 1 ? micros.toFixed(micros >= 10 ? 0 : 1) + " µs" : Math.round(millis * 1e6) + " ns";
}

function clock(at) {
  return new Date(at).toLocaleTimeString([], { hour12: false });
}

// "HeldNotLimited" as "held not limited".
function words(name) {
  return name.replaceAll("_", " ").replace(/[A-Z]/g, (letter, at) => (at ? " " : "") + letter.toLowerCase());
}

// An element with its class and children. Whatever comes from the server becomes text, never markup.
function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
