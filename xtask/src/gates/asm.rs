//! Assembly as compilers write it: functions, what they call and what else is in them.

use std::collections::BTreeMap;

/// Something that must not be in a hot path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Panic,
    Allocation,
    Float,
    Lock,
    System,
    Division,
}

/// A family of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    X86,
    Thumb,
}

/// What a function has in it, in the order in which it stands there.
#[derive(Debug, Default)]
pub(crate) struct Function {
    pub(crate) calls: Vec<String>,
    /// With the instruction.
    pub(crate) found: Vec<(Kind, String)>,
}

/// Every function by its name.
pub(crate) type Functions = BTreeMap<String, Function>;

/// Reads a file of assembly into `functions`.
pub(crate) fn read(text: &str, family: Family, functions: &mut Functions) {
    let mut current: Option<Function> = None;
    let mut name = String::new();
    let mut typed = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        if let Some(rest) = line.trim_start().strip_prefix(".type") {
            let is_function = rest.ends_with("@function") || rest.ends_with("%function");
            let symbol = rest.trim().split(',').next().unwrap_or_default();
            if is_function {
                typed.push(symbol.to_owned());
            }
        } else if let Some(label) = line.strip_suffix(':') {
            if typed.iter().any(|symbol| symbol == label) {
                if let Some(function) = current.take() {
                    functions.insert(std::mem::take(&mut name), function);
                }
                label.clone_into(&mut name);
                current = Some(Function::default());
            }
        } else if let Some((alias, same)) = line.split_once(" = ") {
            // Of functions with the same code the compiler keeps one.
            if typed.iter().any(|symbol| symbol == alias) {
                let calls = vec![same.to_owned()];
                let found = Vec::new();
                functions.insert(alias.to_owned(), Function { calls, found });
            }
        } else if line.starts_with(char::is_whitespace) && !line.trim_start().starts_with('.') {
            if let Some(function) = &mut current {
                instruction(line.trim(), family, function);
            }
        }
    }
    functions.extend(current.map(|function| (name, function)));
}

fn instruction(line: &str, family: Family, function: &mut Function) {
    let line = line.split(['#', '@']).next().map_or(line, |code| {
        // `@GOTPCREL` and `@PLT` belong to x86's symbols, `@` begins Arm's comments.
        if family == Family::X86 { line } else { code }
    });
    let (mnemonic, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let operands = operands.trim();
    let kind = match family {
        Family::X86 => x86(mnemonic),
        Family::Thumb => thumb(mnemonic),
    };
    function
        .found
        .extend(kind.map(|kind| (kind, line.to_owned())));
    let branches = match family {
        Family::X86 => mnemonic.starts_with("call") || mnemonic.starts_with('j'),
        Family::Thumb => is_arm_branch(mnemonic),
    };
    if !branches {
        return;
    }
    let target = operands.trim_start_matches('*');
    let target = target.split(['@', '(']).next().unwrap_or_default();
    let is_register = target.starts_with('%') || family == Family::Thumb && is_arm_register(target);
    if is_register || target.is_empty() || target.starts_with(|c: char| c.is_ascii_digit()) {
        // A jump table's; a call is to wherever a pointer leads.
        if mnemonic.starts_with("call") || mnemonic == "blx" {
            function.found.push((Kind::System, line.to_owned()));
        }
    } else if !target.starts_with(".L") {
        function.calls.push(target.to_owned());
    }
}

/// `b`, `bl`, `blx`, `bx`, and `b` under a condition; not `bic` or `bfi`.
fn is_arm_branch(mnemonic: &str) -> bool {
    const CONDITIONS: [&str; 16] = [
        "eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt",
        "le",
    ];
    let plain = mnemonic.trim_end_matches(".w").trim_end_matches(".n");
    plain
        .strip_prefix('b')
        .is_some_and(|rest| ["", "l", "lx", "x"].contains(&rest) || CONDITIONS.contains(&rest))
}

fn is_arm_register(word: &str) -> bool {
    let numbered = word
        .strip_prefix('r')
        .is_some_and(|rest| rest.parse::<u8>().is_ok());
    numbered || ["lr", "pc", "sp", "ip"].contains(&word)
}

fn x86(mnemonic: &str) -> Option<Kind> {
    const ARITHMETIC: [&str; 10] = [
        "add", "sub", "mul", "div", "sqrt", "cvt", "ucomi", "comi", "min", "max",
    ];
    let plain = mnemonic.strip_prefix('v').unwrap_or(mnemonic);
    let packed = ["ss", "sd", "ps", "pd"]
        .iter()
        .any(|end| plain.ends_with(end));
    let float = packed && ARITHMETIC.iter().any(|start| plain.starts_with(start))
        || plain.starts_with("cvt")
        || mnemonic.starts_with("fld");
    match mnemonic {
        _ if float => Some(Kind::Float),
        "ud2" => Some(Kind::Panic),
        "syscall" | "sysenter" | "int" => Some(Kind::System),
        _ if mnemonic.starts_with("div") || mnemonic.starts_with("idiv") => Some(Kind::Division),
        _ => None,
    }
}

fn thumb(mnemonic: &str) -> Option<Kind> {
    match mnemonic {
        "udf" => Some(Kind::Panic),
        "svc" | "bkpt" => Some(Kind::System),
        _ if mnemonic.starts_with("udiv") || mnemonic.starts_with("sdiv") => Some(Kind::Division),
        _ if mnemonic.contains(".f32") || mnemonic.contains(".f64") => Some(Kind::Float),
        _ => None,
    }
}

/// What a call of this symbol means; `None` for the library's own and for copying memory.
pub(crate) fn symbol(name: &str) -> Option<Kind> {
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if has(&["panicking", "panic_"]) {
        Some(Kind::Panic)
    } else if has(&[
        "__rust_alloc",
        "__rust_realloc",
        "__rust_dealloc",
        "alloc_error",
    ]) {
        Some(Kind::Allocation)
    } else if has(&["divmod", "idiv", "udivti3", "udivdi3", "umodti3"]) {
        Some(Kind::Division)
    } else if has(&["__aeabi_f", "__aeabi_d", "2f", "2d"]) && name.starts_with("__") {
        Some(Kind::Float)
    } else if has(&["utex", "pthread", "critical_section"]) {
        Some(Kind::Lock)
    } else {
        None
    }
}

/// Copying memory, and arithmetic on words, by the compiler's own routines.
pub(crate) fn is_harmless(name: &str) -> bool {
    const ROUTINES: [&str; 11] = [
        "mem",
        "__aeabi_mem",
        "__aeabi_lmul",
        "__aeabi_llsl",
        "__aeabi_llsr",
        "__aeabi_lasr",
        "__aeabi_ulcmp",
        "__aeabi_lcmp",
        "__multi3",
        "__clz",
        "__ctz",
    ];
    name == "bcmp" || ROUTINES.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str, family: Family) -> Function {
        let mut functions = Functions::new();
        let kind = if family == Family::X86 { '@' } else { '%' };
        let text = format!("\t.type\tf,{kind}function\nf:\n{text}\n.Lfunc_end0:\n\t.size f, 1\n");
        read(&text, family, &mut functions);
        functions.remove("f").expect("a function")
    }

    #[test]
    fn calls_jumps_and_tail_calls_are_followed_and_jumps_inside_are_not() {
        let text = "\tcallq\t*_ZN1aE@GOTPCREL(%rip)\n\tjmp\t.LBB0_1\n\tjne\t_ZN1bE\n\tjmp\tc@PLT\n\tjmpq\t*%rcx";
        assert_eq!(one(text, Family::X86).calls, ["_ZN1aE", "_ZN1bE", "c"]);
        let text = "\tbl\t_ZN1aE\n\tb\t.LBB0_1\n\tbne\t.LBB0_2\n\tb.w\tc\n\tbx\tlr\n\tbics\tr1, r2\n\tbfi\tr5, r4, #8, #4";
        assert_eq!(one(text, Family::Thumb).calls, ["_ZN1aE", "c"]);
    }

    #[test]
    fn a_function_that_is_another_s_code_leads_there() {
        let mut functions = Functions::new();
        read(
            "\t.type\ta,%function\na = b\nc = d\n",
            Family::Thumb,
            &mut functions,
        );
        assert_eq!(functions["a"].calls, ["b"]);
        assert!(!functions.contains_key("c"));
    }

    #[test]
    fn a_call_through_a_pointer_leaves_the_library() {
        for (line, family) in [
            ("\tcallq\t*%rax", Family::X86),
            ("\tcallq\t*24(%rax)", Family::X86),
            ("\tblx\tr3", Family::Thumb),
        ] {
            let function = one(line, family);
            assert_eq!(function.found[0].0, Kind::System, "{line}");
        }
    }

    #[test]
    fn each_kind_of_instruction_is_told_and_moving_words_by_vectors_is_none() {
        let kinds = |text: &str, family| -> Vec<Kind> {
            one(text, family)
                .found
                .into_iter()
                .map(|(kind, _)| kind)
                .collect()
        };
        assert_eq!(
            kinds(
                "\tdivq\t%rcx\n\tmulss\t%xmm0, %xmm1\n\tcvtsi2sd\t%rax, %xmm0\n\tud2\n\tsyscall",
                Family::X86
            ),
            [
                Kind::Division,
                Kind::Float,
                Kind::Float,
                Kind::Panic,
                Kind::System
            ]
        );
        assert_eq!(
            kinds(
                "\tudiv\tr0, r0, r1\n\tvmul.f32\ts0, s0, s1\n\tudf\t#254\n\tsvc\t#0",
                Family::Thumb
            ),
            [Kind::Division, Kind::Float, Kind::Panic, Kind::System]
        );
        let moves = "\tmovups\t%xmm0, (%rdi)\n\txorps\t%xmm0, %xmm0\n\tmovsd\t%xmm0, (%rax)\n\taddl\t$1, %eax\n\tmulq\t%rcx";
        assert!(kinds(moves, Family::X86).is_empty());
    }
}
