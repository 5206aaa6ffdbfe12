//! A Rust source as the rules see it: words and signs without comments, with and without its tests.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A word, number or sign and where it stands.
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
    pub(crate) is_name: bool,
}

/// Cuts a source into tokens, outer `{`, `(` and `[` included. Comments are gone; documentation
/// has become a text literal.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    flatten(parse(text)?, false, &mut out);
    Ok(out)
}

/// The tokens of what is compiled into a user's program: without items under `cfg(test)`.
pub(crate) fn shipped(text: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    flatten(parse(text)?, true, &mut out);
    Ok(out)
}

fn parse(text: &str) -> Result<TokenStream, String> {
    text.parse()
        .map_err(|error: proc_macro2::LexError| error.to_string())
}

fn flatten(stream: TokenStream, without_tests: bool, out: &mut Vec<Token>) {
    let trees: Vec<_> = stream.into_iter().collect();
    let mut at = 0;
    while at < trees.len() {
        if without_tests && starts_test_item(&trees[at..]) {
            at += item_length(&trees[at..]);
            continue;
        }
        push(&trees[at], without_tests, out);
        at += 1;
    }
}

fn push(tree: &TokenTree, without_tests: bool, out: &mut Vec<Token>) {
    let mut add = |text: String, line, is_name| {
        out.push(Token {
            text,
            line,
            is_name,
        });
    };
    let line = tree.span().start().line;
    match tree {
        TokenTree::Ident(name) => add(name.to_string(), line, true),
        TokenTree::Punct(sign) => add(sign.as_char().to_string(), line, false),
        TokenTree::Literal(literal) => add(literal.to_string(), line, false),
        TokenTree::Group(group) => {
            let (open, close) = match group.delimiter() {
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::Brace => ("{", "}"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::None => ("", ""),
            };
            add(open.to_owned(), line, false);
            flatten(group.stream(), without_tests, out);
            let end = group.span_close().end().line;
            out.push(Token {
                text: close.to_owned(),
                line: end,
                is_name: false,
            });
        }
    }
}

fn starts_test_item(trees: &[TokenTree]) -> bool {
    match trees {
        [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] => {
            hash.as_char() == '#' && is_test_cfg(attribute.stream())
        }
        _ => false,
    }
}

/// `cfg(test)` or `cfg(all(test, …))`; `any` and `not` may hold without `test`.
fn is_test_cfg(attribute: TokenStream) -> bool {
    let trees: Vec<_> = attribute.into_iter().collect();
    match trees.as_slice() {
        [TokenTree::Ident(cfg), TokenTree::Group(condition)] if cfg == "cfg" => {
            requires_test(condition.stream())
        }
        _ => false,
    }
}

fn requires_test(condition: TokenStream) -> bool {
    let trees: Vec<_> = condition.into_iter().collect();
    match trees.as_slice() {
        [TokenTree::Ident(test)] => test == "test",
        [TokenTree::Ident(all), TokenTree::Group(conditions)] if all == "all" => conditions
            .stream()
            .into_iter()
            .any(|tree| matches!(&tree, TokenTree::Ident(name) if name == "test")),
        _ => false,
    }
}

/// How many trees an item with its attributes takes: to its `;` or its braces.
fn item_length(trees: &[TokenTree]) -> usize {
    let ends = |tree: &TokenTree| match tree {
        TokenTree::Punct(sign) => sign.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    trees
        .iter()
        .position(ends)
        .map_or(trees.len(), |end| end + 1)
}
