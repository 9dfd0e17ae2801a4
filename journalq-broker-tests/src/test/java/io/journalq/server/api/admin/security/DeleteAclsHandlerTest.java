package io.journalq.server.api.admin.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeleteAclsHandlerTest extends HandlerTestBase {
    private static final byte ANY = 1;

    @ServedVersions(ApiKey.DELETE_ACLS)
    void shouldSayForEachFilterThatThereIsNoAuthorizer(int version) throws Exception {
        DeleteAclsRequest request = new DeleteAclsRequest().setFilters(List.of(filter(), filter()));

        DeleteAclsResponse response = call(DeleteAclsResponse.class, request, version);

        assertThat(response.filterResults()).hasSize(2).allSatisfy(result -> {
            assertThat(error(result.errorCode())).isEqualTo(ErrorCode.SECURITY_DISABLED);
            assertThat(result.errorMessage()).isEqualTo("No Authorizer is configured.");
            assertThat(result.matchingAcls()).isEmpty();
        });
    }

    @Test
    void shouldRespondWithNothingWhenNoFilterIsGiven() throws Exception {
        assertThat(call(DeleteAclsResponse.class, new DeleteAclsRequest(), 3).filterResults())
                .isEmpty();
    }

    private static DeleteAclsRequest.DeleteAclsFilter filter() {
        return new DeleteAclsRequest.DeleteAclsFilter()
                .setResourceTypeFilter(ANY)
                .setPatternTypeFilter(ANY)
                .setOperation(ANY)
                .setPermissionType(ANY);
    }
}
