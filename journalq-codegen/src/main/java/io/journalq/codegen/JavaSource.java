package io.journalq.codegen;

/** Java source under construction, indented by its blocks. */
final class JavaSource {
    private static final String INDENT = "    ";

    private final StringBuilder text = new StringBuilder();
    private int depth;

    JavaSource line(String line) {
        if (!line.isEmpty()) {
            text.append(INDENT.repeat(depth)).append(line);
        }
        text.append('\n');
        return this;
    }

    JavaSource blank() {
        return line("");
    }

    /** Opens a block: the line, a brace, and deeper from here on. */
    JavaSource open(String line) {
        line(line + " {");
        depth++;
        return this;
    }

    /** Opens a block that only keeps its variables to itself. */
    JavaSource openBare() {
        line("{");
        depth++;
        return this;
    }

    JavaSource close() {
        depth--;
        return line("}");
    }

    /** Closes a block that is the end of a statement. */
    JavaSource closeExpression() {
        depth--;
        return line("};");
    }

    /** Closes one block and opens its counterpart: {@code } else {}. */
    JavaSource next(String line) {
        depth--;
        line("} " + line + " {");
        depth++;
        return this;
    }

    /** A documentation comment of one line; nothing when {@code about} is empty. */
    JavaSource doc(String about) {
        if (!about.isEmpty()) {
            String escaped = about.replace("&", "&amp;")
                    .replace("<", "&lt;")
                    .replace(">", "&gt;")
                    .replace("@", "&#64;")
                    .replace("*/", "*&#47;")
                    .replace("\\", "&#92;");
            line("/** " + escaped + " */");
        }
        return this;
    }

    /** Runs {@code body} inside {@code if (condition)}, or bare when it always holds, or not at all when it never does. */
    JavaSource when(Condition condition, Runnable body) {
        if (condition.isAlways()) {
            body.run();
        } else if (!condition.isNever()) {
            open("if (" + condition + ")");
            body.run();
            close();
        }
        return this;
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
