package io.journalq.server.config;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A registry of settings, in the order in which they are documented. Immutable. */
public final class ConfigKeys {
    /** Maximum number of edits between an unknown name and a suggestion. A more distant name would be misleading. */
    private static final int MAX_SUGGESTION_DISTANCE = 8;

    private final Map<String, ConfigKey<?>> keyByName;

    ConfigKeys(List<ConfigKey<?>> keys) {
        Map<String, ConfigKey<?>> byName = new LinkedHashMap<>();
        keys.forEach(key -> byName.put(key.name(), key));
        keyByName = Collections.unmodifiableMap(byName);
    }

    /** Every key, in documented order. */
    public Collection<ConfigKey<?>> all() {
        return keyByName.values();
    }

    /** The key of that name, or null. */
    public ConfigKey<?> find(String name) {
        return keyByName.get(name);
    }

    /** The key of that name. */
    ConfigKey<?> get(String name) throws ConfigException {
        ConfigKey<?> key = keyByName.get(name);
        if (key == null) {
            throw new ConfigException("Unknown setting '" + name + "'" + suggestion(name));
        }
        return key;
    }

    /**
     * Parses a value of the key of that name.
     *
     * @throws ConfigException when there is no such key, with the nearest one, or when the value is invalid
     */
    public Object parse(String name, String text) throws ConfigException {
        return get(name).parse(text);
    }

    /** Returns {@code "; did you mean 'x'?"}, or an empty string if no name is near. */
    public String suggestion(String unknownName) {
        return nearest(unknownName)
                .map(name -> "; did you mean '" + name + "'?")
                .orElse("");
    }

    /** The valid name with the fewest edits to {@code unknownName}; empty if none is near. */
    public Optional<String> nearest(String unknownName) {
        String best = null;
        int bestDistance = Math.min(MAX_SUGGESTION_DISTANCE, unknownName.length() - 1) + 1;
        for (String name : keyByName.keySet()) {
            if (Math.abs(name.length() - unknownName.length()) < bestDistance) {
                int distance = editDistance(name, unknownName);
                if (distance < bestDistance) {
                    best = name;
                    bestDistance = distance;
                }
            }
        }
        return Optional.ofNullable(best);
    }

    /** Levenshtein distance, with two rows. */
    private static int editDistance(String left, String right) {
        int[] previous = new int[right.length() + 1];
        int[] current = new int[right.length() + 1];
        for (int j = 0; j <= right.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= left.length(); i++) {
            current[0] = i;
            for (int j = 1; j <= right.length(); j++) {
                int replaced = previous[j - 1] + (left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replaced, Math.min(previous[j], current[j - 1]) + 1);
            }
            int[] swap = previous;
            previous = current;
            current = swap;
        }
        return previous[right.length()];
    }
}
