package io.journalq.server.api.admin.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class CreateAclsHandlerTest extends HandlerTestBase {
    private static final byte TOPIC = 2;
    private static final byte LITERAL = 3;
    private static final byte READ = 3;
    private static final byte ALLOW = 3;

    @ServedVersions(ApiKey.CREATE_ACLS)
    void shouldSayForEachAclThatThereIsNoAuthorizer(int version) throws Exception {
        CreateAclsRequest request = new CreateAclsRequest().setCreations(List.of(acl("orders"), acl("payments")));

        CreateAclsResponse response = call(CreateAclsResponse.class, request, version);

        assertThat(response.results()).hasSize(2).allSatisfy(result -> {
            assertThat(error(result.errorCode())).isEqualTo(ErrorCode.SECURITY_DISABLED);
            assertThat(result.errorMessage()).isEqualTo("No Authorizer is configured.");
        });
    }

    @Test
    void shouldRespondWithNothingWhenNoAclIsNamed() throws Exception {
        assertThat(call(CreateAclsResponse.class, new CreateAclsRequest(), 3).results())
                .isEmpty();
    }

    private static CreateAclsRequest.AclCreation acl(String topic) {
        return new CreateAclsRequest.AclCreation()
                .setResourceType(TOPIC)
                .setResourceName(topic)
                .setResourcePatternType(LITERAL)
                .setPrincipal("User:ada")
                .setHost("*")
                .setOperation(READ)
                .setPermissionType(ALLOW);
    }
}
