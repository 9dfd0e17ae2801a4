package io.journalq.cli.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.admin.AclBinding;
import io.journalq.client.admin.AclBinding.Operation;
import io.journalq.client.admin.AclBinding.PatternType;
import io.journalq.client.admin.AclBinding.Permission;
import io.journalq.client.admin.AclBinding.ResourceType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ExplanationTest {
    private static final Explanation.Question QUESTION =
            new Explanation.Question("User:eve", "", Operation.READ, ResourceType.TOPIC, "orders");
    private static final AclBinding DENIAL = new AclBinding(
            ResourceType.TOPIC,
            PatternType.LITERAL,
            "orders",
            "User:eve",
            AclBinding.EVERY,
            Operation.READ,
            Permission.DENY);
    private static final String REVOKE =
            "journalq access revoke --deny --principal User:eve --operation read --topic orders";

    private static Explanation explain(String allowsEveryone) {
        return Explanation.of(QUESTION, List.of(DENIAL), Map.of("allow.everyone.if.no.acl.found", allowsEveryone));
    }

    @Test
    void shouldMissNoGrantWhenEverybodyMayUseAResourceWithoutAcls() {
        assertThat(explain("true").missing()).containsExactly(REVOKE);
    }

    @Test
    void shouldMissAGrantWhenNothingIsAllowedWithoutAcls() {
        assertThat(explain("false").missing())
                .containsExactly(REVOKE, "journalq access grant --principal User:eve --operation read --topic orders");
    }

    @Test
    void shouldQuoteTheHostOfAnAclWhenAShellWouldObeyIt() {
        String host = "10.0.0.1; reboot";
        Explanation.Question question =
                new Explanation.Question("User:eve", host, Operation.READ, ResourceType.TOPIC, "orders");
        AclBinding denial = new AclBinding(
                ResourceType.TOPIC, PatternType.LITERAL, "orders", "User:eve", host, Operation.READ, Permission.DENY);

        assertThat(Explanation.of(question, List.of(denial), Map.of()).missing().get(0))
                .isEqualTo(REVOKE + " --host '10.0.0.1; reboot'");
    }
}
