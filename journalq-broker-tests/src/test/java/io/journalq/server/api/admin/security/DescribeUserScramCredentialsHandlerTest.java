package io.journalq.server.api.admin.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;

class DescribeUserScramCredentialsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS)
    void shouldDescribeNoUserWhenAllAreRequested(int version) throws Exception {
        DescribeUserScramCredentialsResponse response = call(
                DescribeUserScramCredentialsResponse.class,
                new DescribeUserScramCredentialsRequest().setUsers(null),
                version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.results()).isEmpty();
    }

    @Test
    void shouldReportAnErrorForEachNamedUserOnce() throws Exception {
        DescribeUserScramCredentialsRequest request =
                new DescribeUserScramCredentialsRequest().setUsers(List.of(user("ada"), user("bob"), user("ada")));

        DescribeUserScramCredentialsResponse response = call(DescribeUserScramCredentialsResponse.class, request, 0);

        assertThat(response.results())
                .extracting(result -> result.user(), result -> error(result.errorCode()))
                .containsExactly(
                        Tuple.tuple("ada", ErrorCode.DUPLICATE_RESOURCE),
                        Tuple.tuple("bob", ErrorCode.RESOURCE_NOT_FOUND));
    }

    private static DescribeUserScramCredentialsRequest.UserName user(String name) {
        return new DescribeUserScramCredentialsRequest.UserName().setName(name);
    }
}
