package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerConfigLoader;
import io.journalq.server.config.ConfigException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the profiles of {@code security.profile} refuse, and what they say. */
class StartChecksTest {
    private static final String REQUIRED = "ssl.client.auth=required";

    @TempDir
    private Path directory;

    private static BrokerConfig config(List<String> assignments) throws ConfigException {
        return BrokerConfigLoader.load(null, Map.of(), assignments);
    }

    private static void check(String... assignments) throws ConfigException, StartException {
        StartChecks.check(config(List.of(assignments)));
    }

    /** A configuration that the profile production accepts, with other values for some settings. */
    private void checkProduction(String... others) throws Exception {
        List<String> assignments = new ArrayList<>(List.of(
                "security.profile=production",
                "listeners=SASL_SSL://0.0.0.0:9094",
                "gateway.listener=",
                "auto.create.topics.enable=false",
                "ssl.keystore.location=" + file("broker.p12", "rw-------"),
                "ssl.keystore.password.file=" + file("broker.password", "r--------"),
                "ssl.truststore.location=" + file("authority.p12", "rw-r--r--"),
                "ssl.truststore.password.file=" + file("authority.password", "rw-------")));
        assignments.addAll(List.of(others));
        StartChecks.check(config(assignments));
    }

    private Path file(String name, String permissions) throws IOException {
        Path file = directory.resolve(name);
        if (!Files.exists(file)) {
            Files.createFile(file);
        }
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "listeners=PLAINTEXT://localhost:9092",
                "listeners=PLAINTEXT://[::1]:9092",
                "listeners=SASL_PLAINTEXT://0.0.0.0:9092",
                "listeners=PLAINTEXT://127.0.0.1:9092,SASL_SSL://:9093"
            })
    void shouldAcceptListenersInDevelopmentWhenOthersCannotConnectOrHaveToLogIn(String listeners) {
        assertThatCode(() -> check(listeners, "ssl.keystore.location=k", "ssl.keystore.password.file=p"))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "listeners=PLAINTEXT://0.0.0.0:9092",
                "listeners=PLAINTEXT://:9092",
                "listeners=PLAINTEXT://192.0.2.1:9092",
                "listeners=SASL_SSL://:9093,SSL://[::]:9092"
            })
    void shouldRefuseAnOpenListenerInDevelopmentUnlessItIsAllowed(String listeners) {
        String[] settings = {listeners, "ssl.keystore.location=k", "ssl.keystore.password.file=p", ""};

        settings[3] = "allow.insecure.listeners=false";
        assertThatThrownBy(() -> check(settings))
                .isInstanceOf(StartException.class)
                .hasMessageStartingWith("listeners: clients of other machines can use ")
                .hasMessageContaining(":9092 without a login or a certificate; bind localhost")
                .hasMessageEndingWith("or start with --insecure");

        settings[3] = "allow.insecure.listeners=true";
        assertThatCode(() -> check(settings)).doesNotThrowAnyException();
    }

    @Test
    void shouldAcceptAnOpenListenerInDevelopmentWhenItRequiresCertificates() {
        assertThatCode(() -> check(
                        "listeners=SSL://0.0.0.0:9093",
                        "ssl.keystore.location=k",
                        "ssl.keystore.password.file=p",
                        "ssl.truststore.location=t",
                        "ssl.truststore.password.file=p",
                        REQUIRED))
                .doesNotThrowAnyException();
    }

    @Test
    void shouldRefuseAnOpenQuorumInDevelopmentUnlessItIsAllowed() {
        String open = "quorum.listener=192.0.2.1:9093";

        assertThatThrownBy(() -> check(open))
                .isInstanceOf(StartException.class)
                .hasMessageStartingWith("quorum.listener: other machines can reach 192.0.2.1:9093")
                .hasMessageContaining("--insecure");
        assertThatCode(() -> check("quorum.listener=127.0.0.1:9093")).doesNotThrowAnyException();
        assertThatCode(() -> check(open, "allow.insecure.listeners=true")).doesNotThrowAnyException();
    }

    @Test
    void shouldAcceptAClosedBrokerInProduction() {
        assertThatCode(this::checkProduction).doesNotThrowAnyException();
        assertThatCode(() -> checkProduction("listeners=SSL://:9093", REQUIRED)).doesNotThrowAnyException();
        assertThatCode(() -> checkProduction("gateway.listener=SSL://:8443", REQUIRED))
                .doesNotThrowAnyException();
        assertThatCode(() -> checkProduction("gateway.listener=SASL_SSL://:8443", "admin.listener=SSL://:9644"))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "allow.insecure.listeners=true|allow.insecure.listeners is true; set it to false",
                "listeners=PLAINTEXT://localhost:9092|is not encrypted; use SASL_SSL, or SSL with",
                "listeners=SASL_PLAINTEXT://:9092|is not encrypted; use SASL_SSL, or SSL with",
                "listeners=SSL://localhost:9093|does not authenticate its clients; use SASL_SSL, or set",
                "gateway.listener=localhost:8082|is not encrypted; leave gateway.listener empty, or use SASL_SSL://localhost:8082",
                "gateway.listener=SSL://localhost:8443|does not authenticate its clients; leave gateway.listener empty",
                "gateway.allow.anonymous=true|gateway.allow.anonymous is true; remove it",
                "admin.listener=0.0.0.0:9644|admin.listener is open to other machines at 0.0.0.0:9644, and is not encrypted",
                "quorum.listener=127.0.0.1:9093|quorum.listener is not encrypted; use SSL://127.0.0.1:9093",
                "auto.create.topics.enable=true|set auto.create.topics.enable=false",
                "allow.everyone.if.no.acl.found=true|set allow.everyone.if.no.acl.found=false",
                "super.users=User:ada;User:ANONYMOUS|super.users names User:ANONYMOUS"
            })
    void shouldSayWhatToDoInProductionWhenASettingOpensTheBroker(String setting, String reason) {
        String[] settings = setting.startsWith("quorum")
                ? new String[] {setting, "listeners=SSL://127.0.0.1:9092", REQUIRED}
                : new String[] {setting};

        assertThatThrownBy(() -> checkProduction(settings))
                .isInstanceOfAny(StartException.class, ConfigException.class)
                .hasMessageContaining(reason)
                .hasMessageStartingWith("security.profile is production, and ")
                .message()
                .hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource({
        "broker.p12, rw-r-----",
        "broker.p12, rw-----w-",
        "broker.password, rw-r--r--",
        "authority.password, rw--w----"
    })
    void shouldRefuseAFileInProductionWhenOthersCanUseIt(String name, String permissions) throws Exception {
        // given files of a user other than root, whose group may not read them
        checkProduction();
        Path file = directory.resolve(name);
        String setting = name.startsWith("broker.p")
                ? (name.endsWith("12") ? "ssl.keystore.location=" : "ssl.keystore.password.file=")
                : "ssl.truststore.password.file=";
        Path copy = Files.copy(file, directory.resolve("copy"));
        Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString(permissions));
        boolean ofRoot = Files.getOwner(copy).getName().equals("root");

        // then
        if (ofRoot && permissions.equals("rw-r-----")) {
            assertThatCode(() -> checkProduction(setting + copy)).doesNotThrowAnyException();
            return;
        }
        assertThatThrownBy(() -> checkProduction(setting + copy))
                .isInstanceOf(StartException.class)
                .hasMessageContaining("other users can read or change " + copy)
                .hasMessageEndingWith("run: chmod 600 " + copy);
    }

    @Test
    void shouldNotStartAProcessWithAnOpenListenerUnlessItIsInsecure() {
        // given
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        List<String> arguments = new ArrayList<>(List.of(
                "--set", "listeners=PLAINTEXT://0.0.0.0:0", "--set", "data.directories=" + directory.resolve("data")));
        PrintStream stream = new PrintStream(errors, true, StandardCharsets.UTF_8);

        // when
        int refused = BrokerMain.run(arguments, Map.of(), stream);
        arguments.addAll(List.of("--insecure", "--set", "admin.listener=no-such-host.invalid:1"));
        int allowed = BrokerMain.run(arguments, Map.of(), stream);

        // then the second start comes as far as the next fault
        assertThat(refused).isEqualTo(1);
        assertThat(allowed).isEqualTo(1);
        assertThat(errors.toString(StandardCharsets.UTF_8).lines())
                .hasSize(2)
                .first()
                .asString()
                .contains("--insecure");
        assertThat(errors.toString(StandardCharsets.UTF_8)).contains("admin.listener: unknown host");
    }
}
