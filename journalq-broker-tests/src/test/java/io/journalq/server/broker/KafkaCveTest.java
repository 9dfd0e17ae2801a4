package io.journalq.server.broker;

import org.junit.jupiter.api.Test;

/** Known vulnerabilities of Apache Kafka and kafka-python. Each is shown not to exist here by the test that it names. */
class KafkaCveTest {
    /** After one of two ACLs of a resource was removed, the other had no effect. */
    @Test
    void cve_2024_27309_removedAclHidesAnother() throws Exception {
        HeldBy.test("journalq-server", "AclImageTest", "shouldKeepTheOtherAclWhenOneOfTwoIsRemoved");
    }

    /** The nonce in the final message of SCRAM was not compared with that of the exchange. */
    @Test
    void cve_2024_56128_scramNonceIsNotCompared() throws Exception {
        HeldBy.test("journalq-broker-tests", "StrangersTest", "shouldRefuseAProofForAnotherNonce");
        HeldBy.test("journalq-client", "SaslLoginTest", "shouldRefuseABrokerWhenItsNonceIsNotThatOfThisLogin");
    }

    /** The address of the keys of tokens could name other protocols and hosts. */
    @Test
    void cve_2025_27817_addressOfKeysIsNotRestricted() throws Exception {
        HeldBy.test("journalq-broker-tests", "OAuthTest", "shouldRefuseAnAddressOfKeysWhenItIsNeitherHttpsNorAFile");
    }

    /** A setting named a class, which was loaded. */
    @Test
    void cve_2025_27818_settingNamesAClass() throws Exception {
        HeldBy.test("journalq-broker-tests", "OAuthTest", "shouldRefuseASettingWhenItNamesAClass");
    }

    /** Tokens were accepted without a check of the signature. */
    @Test
    void cve_2026_33557_and_110985_tokensAreForged() throws Exception {
        HeldBy.test("journalq-broker-tests", "TokenValidatorTest", "shouldRefuseATokenWhenItIsForged");
        HeldBy.test(
                "journalq-broker-tests", "TokenValidatorTest", "shouldRefuseATokenWhenItsAlgorithmNeedsNoPrivateKey");
    }

    /** A producer used the memory of a batch that had expired while it was sent, so that it reached another topic. */
    @Test
    void cve_2026_35554_expiredBatchIsSentToAnotherTopic() throws Exception {
        HeldBy.test("journalq-client", "ProducerTest", "shouldSendNoBytesOfABatchToAnotherTopicWhenItExpiresInFlight");
    }

    /** The description of a group named topics that the client may not describe. */
    @Test
    void cve_2026_41115_groupsNameHiddenTopics() throws Exception {
        HeldBy.test(
                "journalq-broker-tests", "RightsTest", "shouldNotDescribeAGroupWhenItsTopicsAreHiddenFromTheClient");
    }

    /** Counts of elements and of tagged fields in a frame made the broker allocate memory. */
    @Test
    void cve_2026_111108_and_111115_countsInFramesLie() throws Exception {
        HeldBy.test("journalq-common", "HostileFrameTest", "shouldReadOrRefuseWhenANumberLiesAtAnyPlace");
        HeldBy.test(
                "journalq-common",
                "HostileFrameTest",
                "shouldAllocateInProportionWhenALargeFrameIsFullOfTheSmallestElements");
    }

    /** A broker could make the client compute a key with billions of iterations. */
    @Test
    void cve_2026_10143_brokerChoosesIterations() throws Exception {
        HeldBy.test("journalq-client", "SaslLoginTest", "shouldRefuseABrokerWhenItsIterationsAreOutsideTheBounds");
    }
}
