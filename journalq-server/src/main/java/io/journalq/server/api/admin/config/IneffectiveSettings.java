package io.journalq.server.api.admin.config;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.config.TopicSettings;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs settings that are stored but have no effect. Each is logged once in the lifetime of the process: when the broker
 * starts with it, or when the first client sets it. Any thread.
 */
public final class IneffectiveSettings {
    private static final Logger log = LoggerFactory.getLogger(IneffectiveSettings.class);

    /** Bounded by the number of settings. */
    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    /** @param started the settings that the broker was started with */
    public IneffectiveSettings(BrokerConfig started) {
        for (ConfigKey<?> key : TopicSettings.ALL.all()) {
            if (started.origin(key) != ConfigOrigin.DEFAULT) {
                onSet(key.name(), started.text(key));
            }
        }
    }

    /**
     * A client has set a setting of a topic or a broker.
     *
     * @param value null when it was deleted
     */
    public void onSet(String name, String value) {
        if (value != null && TopicSettings.isWithoutEffect(name, value) && logged.add(name)) {
            log.warn("setting without effect: {}={}, see docs/protocol-gaps.md", name, value);
        }
    }
}
