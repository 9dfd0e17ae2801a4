package io.journalq.server.api.admin.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import org.junit.jupiter.api.Test;

class DescribeAclsHandlerTest extends HandlerTestBase {
    private static final byte ANY = 1;

    @ServedVersions(ApiKey.DESCRIBE_ACLS)
    void shouldSayThatThereIsNoAuthorizer(int version) throws Exception {
        DescribeAclsResponse response = describe(version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.SECURITY_DISABLED);
        assertThat(response.errorMessage()).isEqualTo("No Authorizer is configured.");
    }

    @Test
    void shouldListNoResourceWhenThereIsNoAuthorizer() throws Exception {
        assertThat(describe(3).resources()).isEmpty();
    }

    private DescribeAclsResponse describe(int version) throws Exception {
        DescribeAclsRequest request = new DescribeAclsRequest()
                .setResourceTypeFilter(ANY)
                .setPatternTypeFilter(ANY)
                .setOperation(ANY)
                .setPermissionType(ANY);
        return call(DescribeAclsResponse.class, request, version);
    }
}
