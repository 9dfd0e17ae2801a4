package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import java.util.Map;

/** A running broker, which this program neither starts nor stops. */
public final class ExternalBroker extends KafkaProtocolBroker {
    private static final int RESPONSE_TIMEOUT_MS = 10_000;

    private final String name;
    private final String bootstrap;
    private final long pid;
    private final ConnectionSecurity security;

    /** {@code pid} is 0 if the process is unknown or on another machine. */
    public ExternalBroker(String name, String bootstrap, long pid) {
        this(name, bootstrap, pid, ConnectionSecurity.NONE);
    }

    /** The same for a broker that is not reached by plain connections. */
    public ExternalBroker(String name, String bootstrap, long pid, ConnectionSecurity security) {
        this.name = name;
        this.bootstrap = bootstrap;
        this.pid = pid;
        this.security = security;
    }

    @Override
    public ConnectionSecurity security() {
        return security;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String version() {
        return "as found";
    }

    @Override
    public void start() {
        if (!admin().responds(RESPONSE_TIMEOUT_MS)) {
            throw new BenchException(
                    "no broker responds at " + bootstrap,
                    "start one with bin/journalq-server start, or leave --bootstrap out");
        }
    }

    @Override
    public String bootstrap() {
        return bootstrap;
    }

    @Override
    public long pid() {
        return pid;
    }

    @Override
    public Map<String, String> settings() {
        return Map.of();
    }

    @Override
    public void freeze() {
        // Other clients may use this broker.
    }

    @Override
    public void thaw() {
        // Never frozen.
    }
}
