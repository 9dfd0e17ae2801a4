package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Known vulnerabilities of Pulsar, RocketMQ, RabbitMQ, EMQX, NATS, Redpanda and ActiveMQ. */
class OtherProductsCveTest {
    /** Pulsar: a connection was served after its token had expired, if the client stayed silent. */
    @Test
    void cve_2023_31007_connectionOutlivesItsToken() throws Exception {
        HeldBy.test("journalq-broker-tests", "OAuthTest", "shouldLogInAgainWithANewTokenBeforeTheOldOneExpires");
        HeldBy.test("journalq-broker-tests", "SaslTest", "shouldServeOnlyALoginWhenTheSessionHasEnded");
    }

    /** Pulsar: the time of a comparison showed how much of a signature was right. */
    @Test
    void cve_2023_51437_timeOfComparisonTellsASecret() throws Exception {
        // Records compare arrays for equality of settings; secrets are compared by MessageDigest.isEqual.
        HeldBy.absence("journalq-server", "Arrays.equals(proof", "Arrays.equals(password", "Arrays.equals(token");
        for (String user : new String[] {"sasl/PasswordCheck", "sasl/ScramServer", "BearerToken"}) {
            assertThat(Files.readString(Path.of(
                            "..",
                            "journalq-server",
                            "src",
                            "main",
                            "java",
                            "io",
                            "journalq",
                            "server",
                            "security",
                            user + ".java")))
                    .as(user)
                    .doesNotContain("Arrays.equals(");
        }
    }

    /** Pulsar: some APIs did not ask for rights. */
    @Test
    void cve_2024_29834_and_2026_105926_apiDoesNotAsk() throws Exception {
        HeldBy.test("journalq-broker-tests", "AccessMatrixTest", "shouldServeOnlyWhoHasTheRights");
        HeldBy.test("journalq-broker-tests", "AccessMatrixTest", "shouldCoverEveryApiThatIsNotOpen");
    }

    /** RocketMQ: anybody could change the configuration of a broker. */
    @Test
    void cve_2023_33246_and_37582_anybodyChangesSettings() throws Exception {
        HeldBy.test("journalq-broker-tests", "RightsTest", "shouldNotLetAUserWithoutTheRightChangeSettings");
    }

    /** RabbitMQ: bodies of HTTP requests had no limit. */
    @Test
    void cve_2023_46118_bodyHasNoLimit() throws Exception {
        HeldBy.test("journalq-broker-tests", "GatewayGuardsTest", "shouldRefuseABodyWhenItAnnouncesMoreThan64MiB");
    }

    /** RabbitMQ: a name in a rule was read as a pattern. */
    @Test
    void cve_2026_44838_nameIsReadAsPattern() throws Exception {
        HeldBy.test("journalq-server", "AclImageTest", "shouldReadNamesAsTextAndNotAsPatterns");
    }

    /** RabbitMQ: a header said that a client was on the same machine. */
    @Test
    void cve_2026_57216_headerClaimsLoopback() throws Exception {
        HeldBy.test(
                "journalq-broker-tests",
                "AdminLoginsTest",
                "shouldTellStrangersOnlyThatTheBrokerIsUpWhenTheListenerIsPlain");
    }

    /** RabbitMQ: secrets were shown. */
    @Test
    void cve_2026_67221_secretsAreShown() throws Exception {
        HeldBy.test("journalq-broker-tests", "SecretsTest", "shouldShowNoSecretAnywhereWhenABrokerUsesOne");
        HeldBy.test("journalq-broker-tests", "SecretsTest", "shouldShowNoPasswordAnywhereWhenUsersLogIn");
    }

    /** EMQX: a client could use the session of another. */
    @Test
    void cve_2026_6564_sessionOfAnotherIsUsed() throws Exception {
        HeldBy.test("journalq-broker-tests", "RightsTest", "shouldNotFindTheSessionOfAnotherClient");
    }

    /** NATS: distinguished names were compared without the order of their parts. */
    @Test
    void cve_2026_33248_orderOfDistinguishedNameIsIgnored() throws Exception {
        HeldBy.test("journalq-server", "PrincipalRulesTest", "shouldRefuseANameWhenItsPartsAreInAnotherOrder");
    }

    /** NATS: halves of frames before the login took memory without end. */
    @Test
    void cve_2026_58210_halfFramesTakeMemory() throws Exception {
        HeldBy.test("journalq-broker-tests", "StrangersTest", "shouldCloseTheConnectionWhenAFrameIsTooLong");
        HeldBy.test("journalq-broker-tests", "StrangersTest", "shouldCloseASilentConnectionAfterTenSeconds");
        HeldBy.test("journalq-broker-tests", "StrangersTest", "shouldDropTheOldestStrangerWhenThereAreTooMany");
    }

    /** NATS: clients could use the listener of other servers. */
    @Test
    void cve_2026_58253_clientPretendsToBeABroker() throws Exception {
        HeldBy.test("journalq-quorum", "ClosedClusterTest", "shouldRefuseOthersWhenTheyPretendToBeBrokers");
    }

    /** Redpanda: the command line showed secrets to other users of the machine. */
    @Test
    void cve_2023_24619_commandLineShowsSecrets() throws Exception {
        HeldBy.test("journalq-cli", "UsersCommandTest", "shouldLeaveNoPasswordAndNoReadableFileBehind");
        HeldBy.absence("journalq-cli", "\"--password\"", "\"--tls-key-password\"");
    }

    /** Redpanda: APIs of transactions did not ask for rights. */
    @Test
    void cve_2023_50976_transactionsNeedNoRights() throws Exception {
        HeldBy.test("journalq-broker-tests", "AccessMatrixTest", "shouldServeOnlyWhoHasTheRights");
    }

    /** Redpanda: the admin listener was open. */
    @Test
    void cve_2026_82266_adminListenerIsOpen() throws Exception {
        HeldBy.test("journalq-server", "StartChecksTest", "shouldSayWhatToDoInProductionWhenASettingOpensTheBroker");
        HeldBy.test(
                "journalq-broker-tests",
                "AdminLoginsTest",
                "shouldRefuseWrongPasswordsAndTokensWhenTheListenerIsEncrypted");
    }

    /** ActiveMQ: a message named a class, which was loaded. */
    @Test
    void cve_2023_46604_messageNamesAClass() throws Exception {
        for (String module : new String[] {
            "journalq-common", "journalq-server", "journalq-client", "journalq-seal", "journalq-quorum"
        }) {
            HeldBy.absence(module, "ObjectInputStream", "Class.forName(", ".loadClass(", "URLClassLoader");
        }
    }

    /** ActiveMQ: lengths in frames were believed before the bytes were there. */
    @Test
    void cve_2025_27533_lengthsInFramesAreBelieved() throws Exception {
        HeldBy.test("journalq-common", "HostileFrameTest", "shouldReadOrRefuseWhenANumberLiesAtAnyPlace");
        HeldBy.test("journalq-server", "AcceptorTest", "shouldCloseTheConnectionWhenALengthIsNegativeOrTooLarge");
    }

    /** ActiveMQ: a client could make the broker connect to an address. Here only brokers give addresses. */
    @Test
    void cve_2026_27446_brokerConnectsForClients() throws Exception {
        HeldBy.test("journalq-broker-tests", "AccessMatrixTest", "shouldServeOnlyWhoHasTheRights");
        HeldBy.test("journalq-quorum", "ClosedClusterTest", "shouldRefuseOthersWhenTheyPretendToBeBrokers");
    }
}
