package io.journalq.server.api.admin.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.message.CreateAclsRequest.AclCreation;
import io.journalq.common.protocol.message.DescribeAclsRequest;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclDecision.Verdict;
import io.journalq.server.metadata.security.AclFilter;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclPattern;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Authorizer.Asker;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AclMessagesTest {
    private static final String USER = "User:eve";
    private static final String TOPIC = "salaries";

    private static AclCreation denial(String host) {
        return new AclCreation()
                .setResourceType(AclResourceType.TOPIC.code())
                .setResourcePatternType(AclPattern.LITERAL.code())
                .setResourceName(TOPIC)
                .setPrincipal(USER)
                .setHost(host)
                .setOperation(AclOperation.ALL.code())
                .setPermissionType(AclPermission.DENY.code());
    }

    private static Acl permission() {
        return AclMessages.acl(denial(Acl.EVERY_HOST).setPermissionType(AclPermission.ALLOW.code()));
    }

    @ParameterizedTest
    @CsvSource({
        "2001:db8::7, 2001:db8::7",
        "2001:0DB8:0:0::0007, 2001:db8::7",
        "2001:db8:0:0:0:0:0:7, 2001:db8::7",
        "::ffff:10.0.0.7, 10.0.0.7",
        "10.0.0.7, 10.0.0.7"
    })
    void shouldDenyTheClientWhateverTheSpellingOfItsAddress(String written, String client) throws Exception {
        AclImage acls = AclImage.NONE.with(permission()).with(AclMessages.acl(denial(written)));
        String host = Asker.host(new InetSocketAddress(InetAddress.getByName(client), 4711));

        assertThat(acls.decide(USER, host, AclOperation.READ, AclResourceType.TOPIC, TOPIC)
                        .verdict())
                .isEqualTo(Verdict.DENIED);
    }

    @ParameterizedTest
    @CsvSource({"2001:db8::7, 2001:DB8:0::7", "10.0.0.7, 10.0.0.7", "*, *"})
    void shouldFindTheAclWhateverTheSpellingOfItsAddress(String written, String wanted) {
        AclImage acls = AclImage.NONE.with(AclMessages.acl(denial(written)));
        AclFilter filter = AclMessages.filter(new DescribeAclsRequest()
                .setResourceTypeFilter(AclResourceType.ANY.code())
                .setPatternTypeFilter(AclPattern.ANY.code())
                .setResourceNameFilter(null)
                .setPrincipalFilter(null)
                .setHostFilter(wanted)
                .setOperation(AclOperation.ANY.code())
                .setPermissionType(AclPermission.ANY.code()));

        assertThat(acls.select(filter)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"*", "fe80::7%eth0", "billing.example.com", "10.0.0.0/8"})
    void shouldKeepWhatIsNoAddressAsItIs(String host) {
        assertThat(AclMessages.acl(denial(host)).host()).isEqualTo(host);
    }
}
