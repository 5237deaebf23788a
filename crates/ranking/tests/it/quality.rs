//! What the first results are. A change of weights that breaks one of these has to be worth it.

use std::sync::Arc;

use moss_ranking::{RankedIndex, RankedView, TextAnalyzer};
use moss_sdk::RelPath;
use moss_sdk::code_search::{CodeHit, CodeSearch, CodeSearchGoal};

const CORPUS: &str = include_str!("../corpus.txt");

/// The files of the corpus: paths and texts.
pub(crate) fn corpus() -> impl Iterator<Item = (RelPath, &'static str)> {
    let files = CORPUS.split("=== ").filter(|file| !file.is_empty());
    files.map(|file| {
        let (path, text) = file.split_once('\n').unwrap();
        (RelPath::parse(path).unwrap(), text)
    })
}

pub(crate) fn index() -> RankedIndex {
    let (mut index, mut analyzer) = (RankedIndex::default(), TextAnalyzer::default());
    corpus().for_each(|(path, text)| index.put(&analyzer.analyze(&path, text)));
    index.freeze();
    index
}

pub(crate) fn ask(index: &RankedIndex, goal: CodeSearchGoal) -> Vec<CodeHit> {
    let search = CodeSearch { goal, wants: Arc::new(|_| true), hits_max: 10, hits_of_file_max: 3 };
    let view = index.view(&RankedView::default(), &mut |_| true);
    index.answer(&search, &view, true)
}

/// The results as `path symbol`.
pub(crate) fn answers(index: &RankedIndex, question: &str) -> Vec<String> {
    let hits = ask(index, CodeSearchGoal::Question(question.to_owned()));
    hits.iter().map(named).collect()
}

fn named(hit: &CodeHit) -> String {
    format!("{} {}", hit.path, hit.name.as_deref().unwrap_or("-"))
}

#[test]
fn questions_have_their_answers_first() {
    let index = index();
    let mut wrong = Vec::new();
    for (question, expected) in [
        ("how are failed requests sent again", "src/http/client.rs send_with_backoff"),
        ("失败的请求如何重试，指数退避", "src/http/client.rs send_with_backoff"),
        ("check the signature of a token", "src/auth/token.rs verify_token"),
        ("校验令牌的签名和过期时间", "src/auth/token.rs verify_token"),
        ("hashing of passwords", "src/auth/password.py hash_password"),
        ("密码哈希", "src/auth/password.py hash_password"),
        ("user login", "src/auth/password.py login"),
        ("用户登录", "src/auth/password.py login"),
        ("where are settings loaded from environment variables", "src/config/load.py load_config"),
        ("加载配置文件和环境变量", "src/config/load.py load_config"),
        ("default configuration", "src/config/load.py default_config"),
        ("默认配置", "src/config/load.py default_config"),
        ("load the cfg from the env", "src/config/load.py load_config"),
        ("rate limiting of clients", "server/ratelimit.go RateLimiter"),
        ("限流", "server/ratelimit.go RateLimiter"),
        ("register a route handler", "server/router.go Handle"),
        ("graceful shutdown waits for running requests", "server/shutdown.go Drain"),
        ("优雅关闭", "server/shutdown.go Drain"),
        ("least recently used cache", "web/src/cache.ts LruCache"),
        ("invalidate expired cache entries", "web/src/cache.ts invalidateExpired"),
        ("缓存过期失效", "web/src/cache.ts invalidateExpired"),
        ("dark theme switch", "web/src/theme.ts toggleDarkMode"),
        ("切换主题", "web/src/theme.ts toggleDarkMode"),
        ("upload progress", "web/src/upload.ts uploadFile"),
        ("上传文件的进度", "web/src/upload.ts uploadFile"),
        ("database migrations", "db/migrate.py run_migrations"),
        ("数据库迁移", "db/migrate.py run_migrations"),
        ("回滚迁移", "db/migrate.py rollback"),
        ("close idle connections of the pool", "src/http/pool.rs evict_idle"),
        ("连接池", "src/http/pool.rs ConnectionPool"),
        ("tests of the backoff", "tests/test_client.py test_client_sends_again_with_backoff"),
        ("documentation of retries", "docs/guide.md Retries"),
    ] {
        let found = answers(&index, question);
        if found.first().is_none_or(|first| first != expected) {
            wrong.push(format!("{question}: {:?}", &found[..found.len().min(3)]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_give_their_declarations_first() {
    let index = index();
    for (question, expected) in [
        ("HttpClient::send", "src/http/client.rs send"),
        ("send_with_backoff", "src/http/client.rs send_with_backoff"),
        ("sendWithBackoff()", "src/http/client.rs send_with_backoff"),
        ("Router", "server/router.go Router"),
        ("Router.Handle", "server/router.go Handle"),
        ("login", "src/auth/password.py login"),
        ("where is verify_token", "src/auth/token.rs verify_token"),
    ] {
        assert_eq!(answers(&index, question)[0], expected, "{question}");
    }
}

#[test]
fn a_place_gives_who_uses_it_and_what_it_uses() {
    let index = index();
    let (path, text) = corpus().find(|(path, _)| path.as_str() == "src/http/pool.rs").unwrap();
    let line = text.lines().position(|line| line.contains("pub fn take")).unwrap() + 1;
    let goal = CodeSearchGoal::RelatedTo { path, line: line as u32, text: text.into() };
    let found: Vec<String> = ask(&index, goal).iter().map(named).collect();
    assert!(found[..3].contains(&"src/http/client.rs send".to_owned()), "{found:?}");
    assert!(!found.contains(&"src/http/pool.rs take".to_owned()), "{found:?}");
}

#[test]
fn a_file_that_has_all_words_comes_before_one_that_has_a_part_twice() {
    let (mut index, mut analyzer) = (RankedIndex::default(), TextAnalyzer::default());
    for (path, text) in [
        ("src/a.rs", "fn one() {\n    zebra();\n}\n\nfn two() {\n    zebra();\n}\n"),
        ("src/b.rs", "fn one() {\n    zebra();\n}\n\nfn two() {\n    okapi();\n}\n"),
        ("src/c.rs", "fn one() {\n    okapi();\n}\n\nfn two() {\n    okapi();\n}\n"),
    ] {
        index.put(&analyzer.analyze(&RelPath::parse(path).unwrap(), text));
    }
    index.freeze();
    let hits = ask(&index, CodeSearchGoal::Question("zebra and okapi".to_owned()));
    assert_eq!(hits[0].path.as_str(), "src/b.rs", "{hits:?}");
}
