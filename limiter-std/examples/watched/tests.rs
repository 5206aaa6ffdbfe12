use super::*;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

async fn get_text(routes: &Router, path: &str) -> String {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let answer = routes.clone().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    let body = answer.into_body().collect().await.unwrap();
    String::from_utf8(body.to_bytes().to_vec()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_wave_is_seen_in_the_metrics_and_on_the_page() {
    let recorder = PrometheusBuilder::new().install_recorder().unwrap();
    let (site, monitor) = (Site::new(1).unwrap(), Monitor::new());
    site.watch(&monitor);
    let served = site.routes().unwrap();
    let routes = served.clone().merge(watched(&monitor, recorder));
    monitor.look();
    load::wave(&served, 5_000.0, Duration::from_millis(500)).await;
    monitor.observe(Metrics::new()).look();

    let metrics = get_text(&routes, "/metrics").await;
    for line in [
        "limiter_limit{limiter=\"api\"}",
        "limiter_state{limiter=\"store\"",
    ] {
        assert!(metrics.contains(line), "no {line} in {metrics}");
    }
    let refused = r#"limiter_refused_total{limiter="reports",reason="at_limit"} "#;
    let refused = metrics.lines().find_map(|line| line.strip_prefix(refused));
    assert_ne!(refused.unwrap().parse::<u64>().unwrap(), 0);

    let data: Value = serde_json::from_str(&get_text(&routes, "/status/data").await).unwrap();
    let names: Vec<_> = data["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["api", "reports", "store", "tenant 0 <&>"]);
    assert_eq!(data["sources"][1]["overload"]["shedding"], true);
    assert_eq!(data["sources"][0]["partitions"][1]["name"], "writes");
    assert!(
        get_text(&routes, "/status")
            .await
            .starts_with("<!doctype html>")
    );
}
