package io.journalq.bench.option;

import io.journalq.bench.driver.SpawnedBroker;
import picocli.CommandLine.Option;

/** Whether a broker that the command starts is measured over TLS. One thread. */
public final class EncryptionOption {
    @Option(
            names = "--tls",
            description =
                    "Connects with TLS 1.3. The broker gets a key (ECDSA P-256) that exists as long as the command"
                            + " runs.")
    private boolean tls;

    /** Whether clients connect with TLS. */
    public boolean isOn() {
        return tls;
    }

    /** Lets the clients of a broker, which is not started yet, connect as the option says. */
    public <B extends SpawnedBroker> B apply(B broker) {
        if (tls) {
            broker.encryptClients();
        }
        return broker;
    }

    /** The kind of connections, for the result. */
    public String inWords() {
        return tls ? "TLS" : "plain";
    }
}
