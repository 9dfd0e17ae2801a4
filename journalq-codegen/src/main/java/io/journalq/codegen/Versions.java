package io.journalq.codegen;

/**
 * A range of versions, both ends included; empty when {@code lowest} is above {@code highest}.
 *
 * @param lowest first version of the range
 * @param highest last version of the range, {@link #UNBOUNDED} when the schema leaves it open
 */
record Versions(int lowest, int highest) {
    static final int UNBOUNDED = Short.MAX_VALUE;
    static final Versions NONE = new Versions(0, -1);

    /** Reads the schema's notation: {@code none}, {@code 3}, {@code 3-7} or {@code 3+}. */
    static Versions parse(String text) {
        String trimmed = text.trim();
        if (trimmed.equals("none")) {
            return NONE;
        }
        if (trimmed.endsWith("+")) {
            return new Versions(Integer.parseInt(trimmed.substring(0, trimmed.length() - 1)), UNBOUNDED);
        }
        int dash = trimmed.indexOf('-');
        if (dash < 0) {
            int only = Integer.parseInt(trimmed);
            return new Versions(only, only);
        }
        return new Versions(
                Integer.parseInt(trimmed.substring(0, dash)), Integer.parseInt(trimmed.substring(dash + 1)));
    }

    boolean isEmpty() {
        return lowest > highest;
    }

    boolean contains(int version) {
        return version >= lowest && version <= highest;
    }

    Versions intersect(Versions other) {
        Versions both = new Versions(Math.max(lowest, other.lowest), Math.min(highest, other.highest));
        return both.isEmpty() ? NONE : both;
    }

    /** The Java expression over {@code version} that says whether it lies in {@code this}, given that it lies in {@code known}. */
    Condition within(Versions known) {
        Versions both = intersect(known);
        if (both.isEmpty()) {
            return Condition.NEVER;
        }
        boolean fromBelow = both.lowest > known.lowest;
        boolean fromAbove = both.highest < known.highest;
        if (fromBelow && fromAbove) {
            return Condition.of(
                    both.lowest == both.highest
                            ? "version == " + both.lowest
                            : "version >= " + both.lowest + " && version <= " + both.highest);
        }
        if (fromBelow) {
            return Condition.of("version >= " + both.lowest);
        }
        return fromAbove ? Condition.of("version <= " + both.highest) : Condition.ALWAYS;
    }
}
