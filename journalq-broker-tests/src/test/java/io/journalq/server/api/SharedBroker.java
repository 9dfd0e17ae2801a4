package io.journalq.server.api;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.server.broker.TestBroker;
import io.journalq.server.broker.WireClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * One broker for the tests of all handlers. The first test starts it, and it stops after the last one. A test must
 * therefore use unique names for what it creates, and must not depend on anything else in the broker.
 */
public final class SharedBroker implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(SharedBroker.class);

    /** JUnit closes it with the store. */
    private static final class Running implements AutoCloseable {
        private final Path directory;
        private final TestBroker broker;

        Running() {
            try {
                directory = Files.createTempDirectory("shared-broker");
                broker = new TestBroker(directory)
                        .with("shards", "2")
                        .with("group.initial.rebalance.delay.ms", "0")
                        .with("offsets.topic.num.partitions", "2")
                        .with("transaction.state.log.num.partitions", "2")
                        .start();
                createCoordinators();
            } catch (Exception failure) {
                throw new IllegalStateException("cannot start the shared broker", failure);
            }
        }

        private void createCoordinators() throws IOException {
            try (WireClient client = new WireClient(broker.port())) {
                for (byte keyType = 0; keyType <= 1; keyType++) {
                    FindCoordinatorRequest request =
                            new FindCoordinatorRequest().setKeyType(keyType).setKey("any");
                    FindCoordinatorResponse response = client.call(FindCoordinatorResponse.class, request, 3);
                    if (response.errorCode() != ErrorCode.NONE.code()) {
                        throw new IOException("no coordinator: " + ErrorCode.of(response.errorCode()));
                    }
                }
            }
        }

        @Override
        public void close() throws IOException {
            broker.close();
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    static TestBroker of(ExtensionContext context) {
        return context.getRoot()
                .getStore(NAMESPACE)
                .getOrComputeIfAbsent(Running.class, type -> new Running(), Running.class)
                .broker;
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TestBroker.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return of(context);
    }
}
