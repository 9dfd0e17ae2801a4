package io.journalq.cli.topic;

import io.journalq.client.admin.ConfigChange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Parses configuration changes of a command line. Stateless. */
final class ConfigChanges {
    private ConfigChanges() {}

    static List<ConfigChange> of(Map<String, String> set, List<String> unset) {
        List<ConfigChange> changes = new ArrayList<>();
        set.forEach((key, value) -> changes.add(ConfigChange.set(key, value)));
        unset.forEach(key -> changes.add(ConfigChange.delete(key)));
        return changes;
    }
}
