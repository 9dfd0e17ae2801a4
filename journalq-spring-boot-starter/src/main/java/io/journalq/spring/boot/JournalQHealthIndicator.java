package io.journalq.spring.boot;

import io.journalq.client.Admin;
import io.journalq.client.admin.ClusterDescription;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Up if a broker describes the cluster in time. Has an admin of its own, so that the timeout of the check does not apply
 * to the calls of the application.
 */
final class JournalQHealthIndicator extends AbstractHealthIndicator implements AutoCloseable {
    private final Admin admin;

    JournalQHealthIndicator(JournalQProperties properties, String clientId) {
        super("the cluster cannot be described");
        this.admin = properties
                .applyTo(Admin.builder(), clientId)
                .callTimeout(properties.health().timeout())
                .build();
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        ClusterDescription cluster = admin.describeCluster();
        int live = (int)
                cluster.brokers().stream().filter(broker -> !broker.fenced()).count();
        health.up().withDetail("brokers", live).withDetail("controllerId", cluster.controllerId());
        if (cluster.clusterId() != null) {
            health.withDetail("clusterId", cluster.clusterId());
        }
    }

    @Override
    public void close() {
        admin.close();
    }
}
