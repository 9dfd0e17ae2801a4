package io.journalq.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigFileTest {
    private static final String REWRITE = "mvn -q -pl journalq-server -am test -Dtest=ConfigFileTest"
            + " -Djournalq.rewrite=true -Dsurefire.failIfNoSpecifiedTests=false";

    /** Surefire runs in the directory of the module. */
    private static final Path FILE = Path.of("..", "conf", "journalq.yaml");

    @Test
    void shouldHoldEverySettingWhenTheFileIsShipped() throws IOException {
        // given
        String expected = ConfigFileText.render();
        if (Boolean.getBoolean("journalq.rewrite")) {
            Files.writeString(FILE, expected);
        }

        // when
        String shipped = Files.exists(FILE) ? Files.readString(FILE) : "";

        // then
        assertThat(shipped)
                .as("conf/journalq.yaml differs from the settings in the code; rewrite it with: " + REWRITE)
                .isEqualTo(expected);
    }

    @Test
    void shouldChangeNothingWhenTheFileIsLoadedAsShipped() throws ConfigException {
        // when
        BrokerConfig config = BrokerConfigLoader.load(FILE, Map.of(), List.of());

        // then
        assertThat(BrokerSettings.ALL.all())
                .allSatisfy(key -> assertThat(config.origin(key)).isEqualTo(ConfigOrigin.DEFAULT));
    }

    @Test
    void shouldLoadTheDefaultsWhenEveryLineIsUncommented(@TempDir Path directory) throws Exception {
        // given
        Path file = directory.resolve("journalq.yaml");
        Files.writeString(file, ConfigFileText.render().replaceAll("(?m)^#(?=[a-z0-9.]+: )", ""));

        // when
        BrokerConfig config = BrokerConfigLoader.load(file, Map.of(), List.of());

        // then
        assertThat(BrokerSettings.ALL.all()).allSatisfy(key -> {
            assertThat(config.origin(key)).as(key.name()).isEqualTo(ConfigOrigin.FILE);
            assertThat(config.text(key)).as(key.name()).isEqualTo(key.format(key.defaultValue()));
        });
    }

    @Test
    void shouldRefuseASecondDocumentWhoseSettingsNobodyWouldRead(@TempDir Path directory) throws IOException {
        // given
        Path file = directory.resolve("journalq.yaml");
        Files.writeString(file, "node.id: 1\n---\nauthorization.enabled: true\n");

        // then
        assertThatThrownBy(() -> BrokerConfigLoader.load(file, Map.of(), List.of()))
                .isInstanceOf(ConfigException.class)
                .hasMessage(file + " line 3: a second document begins; remove the line '---' before it");
    }

    @Test
    void shouldLoadAFileWithMarkersAroundItsOnlyDocument(@TempDir Path directory) throws Exception {
        for (String end : List.of("", "...\n", "---\n")) {
            // given
            Path file = directory.resolve("journalq.yaml");
            Files.writeString(file, "---\nnode.id: 7\n" + end);

            // when
            BrokerConfig config = BrokerConfigLoader.load(file, Map.of(), List.of());

            // then
            assertThat(config.get(BrokerSettings.NODE_ID)).isEqualTo(7);
        }
    }
}
