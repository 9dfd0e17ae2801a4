package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerConfigLoader;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.control.QuorumProvider;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code quorum.listener} in a program that has no metadata quorum. */
class QuorumListenerTest {
    private static final String ADDRESS = "127.0.0.1:9093";

    @TempDir
    Path directory;

    /** Records what is looked for. */
    private static final class RecordingLoader extends ClassLoader {
        private final List<String> resources = new ArrayList<>();

        RecordingLoader(ClassLoader parent) {
            super(parent);
        }

        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            resources.add(name);
            return super.getResources(name);
        }
    }

    @Test
    void shouldLookForAQuorumOnlyWhenTheListenerIsSet() throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        RecordingLoader loader = new RecordingLoader(before);
        String service = "META-INF/services/" + QuorumProvider.class.getName();
        thread.setContextClassLoader(loader);
        try (TestBroker broker = new TestBroker(directory)) {
            broker.start();
            assertThat(loader.resources).doesNotContain(service);
            broker.stop();

            assertThatThrownBy(() -> broker.with("quorum.listener", ADDRESS)
                            .with("listeners", "PLAINTEXT://127.0.0.1:9092")
                            .start())
                    .isInstanceOf(StartException.class)
                    .hasMessage("quorum.listener is set, and this installation has no metadata quorum; add"
                            + " journalq-quorum to the class path, or remove the setting");
            assertThat(loader.resources).contains(service);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @Test
    void shouldRefuseToStartWhenTheMetadataBelongsToAQuorum() throws Exception {
        try (TestBroker broker = new TestBroker(directory)) {
            broker.start();
            broker.stop();
            Files.createDirectory(directory.resolve(QuorumProvider.DIRECTORY));

            assertThatThrownBy(broker::start)
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining("there is no way back; set quorum.listener");
        }
    }

    @Test
    void shouldRefuseToStartWhenABrokerInMemoryHasAListener() throws Exception {
        BrokerConfig config = BrokerConfig.defaults().with("quorum.listener", ADDRESS, ConfigOrigin.COMMAND_LINE);

        assertThatThrownBy(() -> Broker.startInMemory(config))
                .isInstanceOf(StartException.class)
                .hasMessage("a broker in memory cannot be part of a metadata quorum; remove quorum.listener");
    }

    @Test
    void shouldRefuseAListenerWithoutAFixedPortWhenTheBrokerVotes() throws Exception {
        BrokerConfig config = BrokerConfig.defaults()
                .with("data.directories", directory.toString(), ConfigOrigin.COMMAND_LINE)
                .with("listeners", "PLAINTEXT://127.0.0.1:0", ConfigOrigin.COMMAND_LINE)
                .with("quorum.listener", ADDRESS, ConfigOrigin.COMMAND_LINE);

        assertThatThrownBy(() -> Broker.start(config))
                .isInstanceOf(StartException.class)
                .hasMessage("listeners: 'PLAINTEXT://127.0.0.1:0' has no fixed port, and a broker with quorum.listener"
                        + " registers its addresses before it opens them; choose a port");
    }

    @ParameterizedTest
    @ValueSource(strings = {":9093", "0.0.0.0:9093", "127.0.0.1:0", "127.0.0.1"})
    void shouldRefuseAnAddressWhenOtherVotersCannotReachIt(String address) {
        assertThatThrownBy(() -> BrokerConfigLoader.load(null, Map.of(), List.of("quorum.listener=" + address)))
                .isInstanceOf(ConfigException.class);
    }
}
