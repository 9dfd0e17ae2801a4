package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/** The ACLs of a broker that this program started, changed through its plain listener. One thread. */
public final class AccessRules implements AutoCloseable {
    private static final int RULES_PER_REQUEST = 1_000;
    /** One rule in ten is for all topics that begin with a name. */
    private static final int PREFIXES = 10;

    private final Admin admin;

    /** Connects to {@code broker}. */
    public AccessRules(BrokerDriver broker) {
        admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()));
    }

    /**
     * Allows a user to write to a topic, and others to write to other topics.
     *
     * @param count of ACLs in all
     */
    public void add(String user, String topic, int count) {
        List<AclBinding> rules = new ArrayList<>();
        rules.add(writes(user, topic, PatternType.LITERAL));
        for (int i = 1; i < count; i++) {
            PatternType pattern = i % PREFIXES == 0 ? PatternType.PREFIXED : PatternType.LITERAL;
            rules.add(writes("other-" + i, "other-topic-" + i, pattern));
        }
        for (int first = 0; first < count; first += RULES_PER_REQUEST) {
            List<AclBinding> part = rules.subList(first, Math.min(count, first + RULES_PER_REQUEST));
            await("add ACLs", () -> admin.createAcls(part).all().get());
        }
    }

    /** Removes all ACLs. */
    public void removeAll() {
        await(
                "remove ACLs",
                () -> admin.deleteAcls(List.of(AclBindingFilter.ANY)).all().get());
    }

    private static AclBinding writes(String user, String topic, PatternType pattern) {
        return new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, topic, pattern),
                new AccessControlEntry("User:" + user, "*", AclOperation.WRITE, AclPermissionType.ALLOW));
    }

    private interface Request {
        Object run() throws ExecutionException, InterruptedException;
    }

    private static void await(String what, Request request) {
        try {
            request.run();
        } catch (ExecutionException e) {
            throw new BenchException("the broker did not " + what, "check its log", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run the benchmark again", e);
        }
    }

    @Override
    public void close() {
        admin.close();
    }
}
