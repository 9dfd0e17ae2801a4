package io.journalq.server.metadata.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.metadata.security.AclDecision.Verdict;
import org.junit.jupiter.api.Test;

class AclImageTest {
    private static final String ADA = "User:ada";
    private static final String HOST = "10.0.0.1";

    /** CVE-2024-27309 of Kafka: after one of two ACLs of a resource was removed, the other had no effect. */
    @Test
    void shouldKeepTheOtherAclWhenOneOfTwoIsRemoved() {
        Acl allows = acl("orders", AclPattern.LITERAL, "User:*", AclOperation.READ, AclPermission.ALLOW);
        Acl denies = acl("orders", AclPattern.LITERAL, ADA, AclOperation.READ, AclPermission.DENY);
        AclImage both = AclImage.NONE.with(allows).with(denies);

        AclImage withoutDenial = both.without(denies);
        AclImage withoutAllowance = both.without(allows);

        assertThat(read(both, "orders")).isEqualTo(Verdict.DENIED);
        assertThat(read(withoutDenial, "orders")).isEqualTo(Verdict.ALLOWED);
        assertThat(read(withoutAllowance, "orders")).isEqualTo(Verdict.DENIED);
        assertThat(read(withoutAllowance.without(denies), "orders")).isEqualTo(Verdict.NO_ACL);
    }

    /** CVE-2026-44838 of RabbitMQ: a name in a rule was read as a pattern. */
    @Test
    void shouldReadNamesAsTextAndNotAsPatterns() {
        AclImage image = AclImage.NONE
                .with(acl(".*", AclPattern.LITERAL, ADA, AclOperation.READ, AclPermission.ALLOW))
                .with(acl("a.*", AclPattern.PREFIXED, ADA, AclOperation.READ, AclPermission.ALLOW));

        assertThat(read(image, ".*")).isEqualTo(Verdict.ALLOWED);
        assertThat(read(image, "a.*b")).isEqualTo(Verdict.ALLOWED);
        assertThat(read(image, "orders")).isEqualTo(Verdict.NO_ACL);
        assertThat(read(image, "aXYZ")).isEqualTo(Verdict.NO_ACL);
    }

    @Test
    void shouldNameTheEntryThatDecides() {
        Acl prefix = acl("ord", AclPattern.PREFIXED, "User:*", AclOperation.ALL, AclPermission.DENY);
        AclImage image = AclImage.NONE
                .with(prefix)
                .with(acl("*", AclPattern.LITERAL, ADA, AclOperation.READ, AclPermission.ALLOW));

        assertThat(image.decide(ADA, HOST, AclOperation.READ, AclResourceType.TOPIC, "orders"))
                .isEqualTo(new AclDecision(Verdict.DENIED, prefix));
    }

    @Test
    void shouldForgetThePrefixWhenItsLastAclIsRemoved() {
        Acl first = acl("ord", AclPattern.PREFIXED, ADA, AclOperation.READ, AclPermission.ALLOW);
        Acl second = acl("ord", AclPattern.PREFIXED, ADA, AclOperation.WRITE, AclPermission.ALLOW);
        AclImage image = AclImage.NONE.with(first).with(second).without(first);

        assertThat(read(image, "orders")).isEqualTo(Verdict.NOT_ALLOWED);
        assertThat(read(image.without(second), "orders")).isEqualTo(Verdict.NO_ACL);
        assertThat(image.without(second).size()).isZero();
    }

    @Test
    void shouldNotCountAnAclTwiceWhenItIsAddedAgain() {
        Acl acl = acl("orders", AclPattern.LITERAL, ADA, AclOperation.READ, AclPermission.ALLOW);

        assertThat(AclImage.NONE.with(acl).with(acl).size()).isEqualTo(1);
        assertThat(AclImage.NONE.without(acl).size()).isZero();
    }

    private static Verdict read(AclImage image, String topic) {
        return image.decide(ADA, HOST, AclOperation.READ, AclResourceType.TOPIC, topic)
                .verdict();
    }

    private static Acl acl(
            String name, AclPattern pattern, String principal, AclOperation operation, AclPermission permission) {
        return new Acl(new AclResource(AclResourceType.TOPIC, pattern, name), principal, "*", operation, permission);
    }
}
