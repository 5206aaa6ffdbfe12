//! The page and its numbers.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use limiter_std::law::Fixed;
use limiter_std::telemetry::{Monitor, status};
use limiter_std::{Breaker, BreakerConfig, Config, Dependency, Limiter, ManualClock, Outcome};
use serde_json::{Value, json};
use std::time::Duration;
use tower::ServiceExt;

async fn ask(routes: &Router, method: Method, path: &str) -> (StatusCode, HeaderMap, String) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .body(Body::empty())
        .unwrap();
    let answer = routes.clone().oneshot(request).await.unwrap();
    let (head, body) = answer.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (
        head.status,
        head.headers,
        String::from_utf8(body.to_vec()).unwrap(),
    )
}

async fn data(routes: &Router) -> Value {
    let (_, _, text) = ask(routes, Method::GET, "/status/data").await;
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn the_numbers_are_those_of_all_that_is_watched() {
    let limiter = Limiter::try_new(Config::new(Fixed).initial(1)).unwrap();
    let (store, monitor) = (Dependency::default(), Monitor::new());
    let breaker = Breaker::try_new(BreakerConfig::new().consecutive(Some(1))).unwrap();
    monitor
        .limiter("api", &limiter)
        .dependency("store", &store)
        .breaker("alone", &breaker);
    let routes = Router::new().nest("/status", status(&monitor));
    monitor.look();
    breaker.try_pass().unwrap().finish(Outcome::Failure);
    let held = limiter.try_acquire();
    assert!(limiter.try_acquire().is_err());
    monitor.look();
    let seen = data(&routes).await;
    let [api, store, alone] = &seen["sources"].as_array().unwrap()[..] else {
        panic!("{seen}")
    };
    assert_eq!(
        (&api["name"], &store["name"]),
        (&json!("api"), &json!("store"))
    );
    assert_eq!(
        (&api["limiter"]["inflight"], &api["refused"]["at_limit"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(api["overload"]["shedding"], true);
    assert_eq!(
        store["budget"],
        json!({ "balance": 10.0, "capacity": 10.0 })
    );
    assert_eq!(alone["breaker"]["state"], "open");
    let events = seen["events"].as_array().unwrap();
    let edges: Vec<_> = events.iter().map(|event| &event["edge"]).collect();
    assert_eq!(
        edges,
        ["breaker_opened", "shedding", "queue_building"],
        "newest first"
    );
    drop(held);
}

#[tokio::test]
async fn a_monitor_that_nobody_runs_looks_when_it_is_asked() {
    let (limiter, monitor) = (Limiter::default(), Monitor::new());
    let routes = Router::new().nest("/status", status(&monitor));
    monitor.limiter("api", &limiter);
    assert_eq!(data(&routes).await["sources"][0]["limiter"]["limit"], 10);
}

#[tokio::test]
async fn whatever_a_name_is_it_never_becomes_markup() {
    let (limiter, monitor) = (Limiter::default(), Monitor::new());
    let name = "</script><script>alert(1)</script>\"&\u{202e}";
    monitor.limiter(name, &limiter);
    let routes = Router::new().nest("/status", status(&monitor));
    monitor.look();
    let seen = data(&routes).await;
    assert_eq!(seen["sources"][0]["name"], name);
    let (_, headers, page) = ask(&routes, Method::GET, "/status").await;
    assert!(!page.contains("alert(1)"));
    assert_eq!(headers["x-content-type-options"], "nosniff");
    // The script puts what it is told into the page as text.
    for way in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
    ] {
        assert!(!page.contains(way), "{way}");
    }
}

#[tokio::test]
async fn the_page_has_all_that_it_needs_in_it() {
    let routes = Router::new().nest("/status", status(&Monitor::new()));
    let (code, headers, page) = ask(&routes, Method::GET, "/status").await;
    assert_eq!(code, StatusCode::OK);
    assert!(
        headers["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/html")
    );
    // The one address is a name, that of SVG.
    let addresses = page.matches("://").count();
    assert_eq!(
        (
            addresses,
            page.matches("http://www.w3.org/2000/svg").count()
        ),
        (1, 1)
    );
    for outside in ["src=", "@import", "url(", "<iframe", "<form"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
}

#[tokio::test]
async fn a_slash_at_the_end_leads_to_the_page_and_what_is_not_there_is_not_found() {
    let routes = Router::new()
        .nest_service("/status", status(&Monitor::new()))
        .fallback(async || "the service's own");
    let (code, headers, page) = ask(&routes, Method::GET, "/status/").await;
    assert_eq!(code, StatusCode::OK);
    assert_eq!(headers["cache-control"], "no-store");
    assert_eq!(page, ask(&routes, Method::GET, "/status").await.2);
    let (code, ..) = ask(&routes, Method::GET, "/status/else").await;
    assert_eq!(code, StatusCode::NOT_FOUND);
    assert_eq!(ask(&routes, Method::GET, "/").await.2, "the service's own");
}

#[tokio::test]
async fn nothing_can_be_changed_by_it() {
    let routes = Router::new().nest_service("/status", status(&Monitor::new()));
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
        for path in ["/status", "/status/", "/status/data"] {
            let (code, _, _) = ask(&routes, method.clone(), path).await;
            assert_eq!(code, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_question_that_is_nonsense_is_answered_like_none() {
    let (limiter, monitor) = (Limiter::default(), Monitor::new());
    monitor.limiter("api", &limiter);
    let routes = Router::new().nest("/status", status(&monitor));
    for query in [
        "after=",
        "after=x,,-1,99999999999999999999999",
        "&&=&after",
        "after=1,2,3",
    ] {
        let path = format!("/status/data?{query}");
        let (code, _, text) = ask(&routes, Method::GET, &path).await;
        assert_eq!(code, StatusCode::OK);
        assert!(serde_json::from_str::<Value>(&text).is_ok());
    }
}

/// All keys of objects in it.
fn keys(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| {
            all.push(key.clone());
            keys(value, all);
        }),
        Value::Array(array) => array.iter().for_each(|value| keys(value, all)),
        _ => {}
    }
}

#[tokio::test]
async fn keys_and_states_have_no_spaces() {
    let (limiter, store) = (Limiter::default(), Dependency::default());
    let monitor = Monitor::new();
    monitor.limiter("api", &limiter).dependency("store", &store);
    let routes = Router::new().nest("/status", status(&monitor));
    let mut all = Vec::new();
    keys(&data(&routes).await, &mut all);
    assert!(all.len() > 40, "{all:?}");
    let plain = |sign: char| sign.is_ascii_lowercase() || sign == '_';
    for key in all {
        assert!(key.chars().all(plain), "{key}");
    }
}

#[tokio::test]
async fn what_one_that_only_watches_lets_through_is_no_refusal() {
    let config = Config::new(Fixed).initial(1).watch_only(true);
    let (limiter, monitor) = (Limiter::try_new(config).unwrap(), Monitor::new());
    monitor.limiter("api", &limiter);
    let routes = Router::new().nest("/status", status(&monitor));
    monitor.look();
    let held = [limiter.try_acquire(), limiter.try_acquire()];
    monitor.look();
    let seen = data(&routes).await;
    let api = &seen["sources"][0];
    assert_eq!(api["would_refuse"]["at_limit"], 1);
    assert_eq!(api["refused"]["at_limit"], 0);
    assert_eq!(api["watches_only"], true);
    let overload = &api["overload"];
    assert_eq!(
        (&overload["would_shed"], &overload["shedding"]),
        (&json!(true), &json!(false))
    );
    let events = seen["events"].as_array().unwrap();
    let edges: Vec<_> = events.iter().map(|event| &event["edge"]).collect();
    assert_eq!(edges, ["would_shed", "queue_building", "watching"]);
    assert!(
        events.iter().all(|event| event["bad"] == false),
        "nobody is hurt"
    );
    drop(held);
}

#[tokio::test]
async fn a_time_that_nobody_measured_is_none_and_a_short_one_is_not_0() {
    let clock = ManualClock::new();
    let config = Config::new(Fixed).min_samples(1);
    let (limiter, monitor) = (
        Limiter::with_clock(config, clock.clone()).unwrap(),
        Monitor::new(),
    );
    monitor.limiter("api", &limiter);
    let routes = Router::new().nest("/status", status(&monitor));
    monitor.look();
    assert_eq!(
        data(&routes).await["sources"][0]["limiter"]["rtt_ms"],
        Value::Null
    );
    for _ in 0..2_000 {
        let permit = limiter.try_acquire().unwrap();
        clock.advance(Duration::from_micros(3));
        permit.finish(Outcome::Success);
        clock.advance(Duration::from_micros(10));
    }
    monitor.look();
    let took = data(&routes).await["sources"][0]["limiter"]["rtt_ms"]
        .as_f64()
        .unwrap();
    assert!((0.0029..0.0031).contains(&took), "{took}");
}
