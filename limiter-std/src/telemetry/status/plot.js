// A plot of the last minutes: lines and areas over time, with a cursor that reads values.

// As many points as the server keeps, one for each second.
const SECONDS = 300;
const LEAST = 60;
const WIDTH = 600, HEIGHT = 100;
const SVG = "http://www.w3.org/2000/svg";

function shape(tag, className) {
  const element = document.createElementNS(SVG, tag);
  element.setAttribute("class", className);
  return element;
}

// The next larger of a few round numbers.
function ceiling(value) {
  if (!(value > 0)) return 1;
  const ten = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * ten).find((step) => step >= value);
}

class Plot {
  // Each series is { name, at, area, rare }: `at` is the place of its values in a point; what is rare is named only
  // where there is some. `write` says how a value is written.
  constructor(title, unit, series, write = number) {
    this.unit = unit;
    this.write = write;
    this.svg = shape("svg", "");
    this.svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.svg.setAttribute("preserveAspectRatio", "none");
    this.svg.setAttribute("role", "img");
    this.svg.setAttribute("aria-label", title);
    const head = make("div", "head", make("h3", "", title));
    this.series = series.map((one) => {
      const value = make("b", "");
      const key = make("span", "key " + one.name, one.label + " ", value);
      head.append(key);
      const area = one.area ? shape("path", "area " + one.name) : null;
      const line = shape("path", "line " + one.name);
      if (area) this.svg.append(area);
      this.svg.append(line);
      return { ...one, key, value, line, shade: area };
    });
    this.cursor = shape("line", "cursor");
    this.cursor.setAttribute("y2", HEIGHT);
    this.cursor.setAttribute("visibility", "hidden");
    this.svg.append(this.cursor);
    this.top = make("span", "top");
    this.from = make("span", "");
    this.to = make("span", "");
    const axis = make("div", "axis", this.from, this.to);
    this.element = make("div", "plot", head, this.top, this.svg, axis);
    this.points = [];
    this.pointed = null;
    this.svg.addEventListener("pointermove", (event) => {
      const box = this.svg.getBoundingClientRect();
      this.pointed = (event.clientX - box.left) / box.width;
      this.read();
    });
    this.svg.addEventListener("pointerleave", () => {
      this.pointed = null;
      this.read();
    });
  }

  draw(points, now) {
    this.points = points;
    this.now = now;
    let most = 0;
    for (const point of points) {
      for (const one of this.series) most = Math.max(most, point[one.at] ?? 0);
    }
    const top = ceiling(most);
    put(this.top, this.write(top) + this.unit);
    for (const one of this.series) {
      one.none = one.rare && !points.some((point) => point[one.at]);
      one.key.hidden = one.none;
    }
    const first = points.length ? (now - points[0][1]) / 1e3 : 0;
    this.span = Math.min(SECONDS, Math.max(LEAST, first)) * 1e3;
    const x = (point) => WIDTH * (1 - (now - point[1]) / this.span);
    // Below the top a little, where the number of the top is.
    const y = (value) => HEIGHT * (1 - 0.93 * value / top);
    for (const one of this.series) {
      let path = "", shade = "", last = null;
      for (const point of points) {
        const at = x(point), value = point[one.at];
        if (at < 0 || value === null || one.none) continue;
        // A gap where the server was away.
        const gap = last !== null && point[1] - last[1] > 5_000;
        const step = one.steps && last !== null && !gap ? `H${at.toFixed(1)}` : "";
        const to = `${at.toFixed(1)} ${y(value).toFixed(1)}`;
        if (last === null || gap) {
          if (last !== null) shade += `L${x(last).toFixed(1)} ${HEIGHT}Z`;
          shade += `M${at.toFixed(1)} ${HEIGHT}L${to}`;
          path += `M${to}`;
        } else {
          path += `${step}L${to}`;
          shade += `L${to}`;
        }
        last = point;
      }
      if (last !== null) shade += `L${x(last).toFixed(1)} ${HEIGHT}Z`;
      one.line.setAttribute("d", path);
      if (one.shade) one.shade.setAttribute("d", shade);
    }
    this.read();
  }

  // The values under the pointer, else the last ones.
  read() {
    let point = this.points.at(-1);
    if (this.pointed !== null && point) {
      const at = this.now - this.span * (1 - this.pointed);
      point = this.points.reduce((best, other) =>
        Math.abs(other[1] - at) < Math.abs(best[1] - at) ? other : best);
      const x = WIDTH * (1 - (this.now - point[1]) / this.span);
      this.cursor.setAttribute("x1", x);
      this.cursor.setAttribute("x2", x);
      put(this.to, clock(point[1]));
    } else {
      put(this.to, "now");
    }
    this.cursor.setAttribute("visibility", this.pointed === null ? "hidden" : "visible");
    put(this.from, this.points.length ? `${time(this.span)} ago` : "");
    for (const one of this.series) put(one.value, point ? this.write(point[one.at]) : "–");
  }
}
