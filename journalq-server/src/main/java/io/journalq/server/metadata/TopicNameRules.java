package io.journalq.server.metadata;

import io.journalq.common.protocol.ErrorCode;

/** Valid topic names, according to the rules of the Kafka protocol. Stateless. */
public final class TopicNameRules {
    public static final int MAX_LENGTH = 249;

    private TopicNameRules() {}

    /** Why {@code name} is not a valid topic name; null if it is. */
    public static String problem(String name) {
        if (name == null || name.isEmpty()) {
            return "a topic name must not be empty";
        }
        if (name.length() > MAX_LENGTH) {
            return "a topic name must not be longer than " + MAX_LENGTH + " characters";
        }
        if (name.equals(".") || name.equals("..")) {
            return "a topic must not be called '" + name + "'";
        }
        for (int i = 0; i < name.length(); i++) {
            if (!isLegal(name.charAt(i))) {
                return "a topic name must consist of ASCII letters, digits, '.', '_' and '-'";
            }
        }
        return null;
    }

    /** The error for a topic that does not exist: clients retry after one of them, but not after the other. */
    public static ErrorCode errorOfUnknown(String name) {
        return problem(name) == null ? ErrorCode.UNKNOWN_TOPIC_OR_PARTITION : ErrorCode.INVALID_TOPIC_EXCEPTION;
    }

    /**
     * The key is the same for two names that differ only in '.' and '_'. Metrics of clients and tools replace one by
     * the other, so Kafka brokers allow only one of the two topics.
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
