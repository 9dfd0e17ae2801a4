package io.journalq.codegen;

/** A boolean Java expression, folded where the generator already knows its value. */
record Condition(String expression) {
    static final Condition ALWAYS = new Condition("true");
    static final Condition NEVER = new Condition("false");

    static Condition of(String expression) {
        return new Condition(expression);
    }

    boolean isAlways() {
        return expression.equals("true");
    }

    boolean isNever() {
        return expression.equals("false");
    }

    /** {@code condition ? whenTrue : whenFalse}, folded. */
    String choose(String whenTrue, String whenFalse) {
        if (isAlways()) {
            return whenTrue;
        }
        return isNever() ? whenFalse : "(" + expression + ") ? " + whenTrue + " : " + whenFalse;
    }

    @Override
    public String toString() {
        return expression;
    }
}
