package io.journalq.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrincipalRulesTest {
    private static final List<String> NAMES = List.of(
            "CN=Duke,OU=JavaSoft,O=Sun Microsystems",
            "CN=duke,OU=ServiceUsers,O=Org,C=US",
            "CN=a\\,b,O=Org",
            "OU=x,CN=late",
            "CN=path/with/slashes");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DEFAULT",
                "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,DEFAULT",
                "RULE:^CN=(.*?),OU=(.*?),O=(.*?)$/$1@$2/L, RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U,DEFAULT",
                "RULE:^CN=([^,]+),.*$/user-$1-$2/, DEFAULT",
                "RULE:CN=path\\/(.*)/$1/L, DEFAULT",
                " DEFAULT ",
                "RULE:^.*$/all/"
            })
    void shouldNameUsersAsKafkaDoes(String rules) throws Exception {
        SslPrincipalMapper kafkas = SslPrincipalMapper.fromRules(rules);
        PrincipalRules ours = PrincipalRules.parse(rules);

        for (String name : NAMES) {
            assertThat(ours.nameOf(name)).as(name).isEqualTo(kafkas.getName(name));
        }
    }

    @Test
    void shouldRefuseANameWhenNoRuleMatches() {
        PrincipalRules rules = PrincipalRules.parse("RULE:^CN=(.*),O=Example$/$1/");

        assertThat(rules.nameOf("CN=ada,O=Example")).isEqualTo("ada");
        assertThatThrownBy(() -> rules.nameOf("CN=ada,O=Example,C=DE"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no rule");
    }

    /** Found by the fuzz target certificate-names: the mapping threw IndexOutOfBoundsException. */
    @Test
    void shouldTakeAnEscapedReferenceAsTextWhenThePatternDoesNotHaveTheGroup() {
        PrincipalRules rules = PrincipalRules.parse("RULE:^CN=(.*),O=Example$/\\$9-$1-\\\\$9-$9/");

        assertThat(rules.nameOf("CN=ada,O=Example")).isEqualTo("$9-ada-\\$9-$9");
    }

    /** CVE-2026-33248 of NATS: names were compared without the order of their parts. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "OU=services,CN=billing,O=Example",
                "O=Example,OU=services,CN=billing",
                "CN=billing,O=Example,OU=services",
                "CN=billing,OU=services,O=Example,CN=root",
                "CN=root\\,OU=services\\,O=Example,OU=guests",
                " CN=billing,OU=services,O=Example"
            })
    void shouldRefuseANameWhenItsPartsAreInAnotherOrder(String name) {
        PrincipalRules rules = PrincipalRules.parse("RULE:^CN=([^,]+),OU=services,O=Example$/$1/");

        assertThat(rules.nameOf("CN=billing,OU=services,O=Example")).isEqualTo("billing");
        assertThatThrownBy(() -> rules.nameOf(name)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"RULE:(?P<user>.*)/${name}/", "RULE:(?P<user>.*)/${user/", "RULE:(.*)/${}/"})
    void shouldRefuseAReplacementWhenItNamesAGroupThatThePatternDoesNotHave(String rules) {
        assertThatThrownBy(() -> PrincipalRules.parse(rules)).hasMessageContaining("names no group of");
    }

    @Test
    void shouldReplaceGroupsByNameUnlessTheyAreEscaped() {
        assertThat(PrincipalRules.parse("RULE:CN=(?P<user>.*)/${user}-$1/").nameOf("CN=a"))
                .isEqualTo("a-a");
        assertThat(PrincipalRules.parse("RULE:CN=(.*)/\\${user}/").nameOf("CN=a"))
                .isEqualTo("${user}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "default", "RULE:", "RULE:a", "RULE:a/b", "RULE:(/b/", "RULE:a/b/X", "DEFAULT DEFAULT"})
    void shouldRefuseRulesWhenTheyAreMalformed(String rules) {
        assertThatThrownBy(() -> PrincipalRules.parse(rules)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldBeAnonymousWhenThereIsNoCertificate() {
        assertThat(PrincipalRules.DEFAULT.of(null)).isEqualTo(Principal.ANONYMOUS);
        assertThat(Principal.ANONYMOUS).hasToString("User:ANONYMOUS");
    }
}
