package io.journalq.server.metadata;

/** What a topic may be called. Source: the Kafka protocol's rules. Stateless. */
public final class TopicNames {
    public static final int MAX_LENGTH = 249;

    private TopicNames() {}

    /** Why {@code name} cannot be a topic's name; null when it can. */
    public static String problem(String name) {
        if (name == null || name.isEmpty()) {
            return "a topic's name must not be empty";
        }
        if (name.length() > MAX_LENGTH) {
            return "a topic's name must not be longer than " + MAX_LENGTH + " characters";
        }
        if (name.equals(".") || name.equals("..")) {
            return "a topic must not be called '" + name + "'";
        }
        for (int i = 0; i < name.length(); i++) {
            if (!isLegal(name.charAt(i))) {
                return "a topic's name must consist of ASCII letters, digits, '.', '_' and '-'";
            }
        }
        return null;
    }

    /**
     * The same for two names that differ in '.' and '_' only. Metrics of clients and tools replace one by the other, so
     * that the protocol's brokers let only one of the two exist.
     */
    static String collisionKey(String name) {
        return name.replace('.', '_');
    }

    private static boolean isLegal(char c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '.'
                || c == '_'
                || c == '-';
    }
}
