package io.journalq.cli.topic;

import io.journalq.client.admin.ConfigChange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Turns words of a command line into changes of configs. Stateless. */
final class ConfigChanges {
    private ConfigChanges() {}

    static List<ConfigChange> of(Map<String, String> set, List<String> unset) {
        List<ConfigChange> changes = new ArrayList<>();
        set.forEach((key, value) -> changes.add(ConfigChange.set(key, value)));
        unset.forEach(key -> changes.add(ConfigChange.delete(key)));
        return changes;
    }
}
