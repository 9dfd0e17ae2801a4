package io.journalq.server.broker;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.network.AllowedHosts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The names under which clients may address the HTTP listeners of a broker. */
final class BrokerNames {
    private BrokerNames() {}

    /**
     * All names under which the broker is known.
     *
     * @param ownHost host of the HTTP listener
     * @param more additional names from the settings of the listener
     */
    static AllowedHosts of(BrokerConfig config, String ownHost, List<String> more) {
        List<String> names = new ArrayList<>(more);
        names.add(ownHost);
        config.listeners().forEach(listener -> names.add(listener.host()));
        config.advertisedListeners().forEach(listener -> names.add(listener.host()));
        names.add(machineName());
        return new AllowedHosts(names);
    }

    /**
     * The host name of this machine; empty if it is unknown. Does not query a name server, which could delay the start.
     */
    private static String machineName() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException notLinux) {
            return System.getenv().getOrDefault("HOSTNAME", "");
        }
    }
}
