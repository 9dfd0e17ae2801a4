package io.journalq.server.api.admin.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.common.protocol.message.AlterUserScramCredentialsRequest.ScramCredentialDeletion;
import io.journalq.common.protocol.message.AlterUserScramCredentialsRequest.ScramCredentialUpsertion;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;

/** For a client that has not logged in. {@code SaslTest} covers the others. */
class AlterUserScramCredentialsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.ALTER_USER_SCRAM_CREDENTIALS)
    void shouldChangeNothingWhenTheClientHasNotLoggedIn(int version) throws Exception {
        ScramCredentialUpsertion upsertion = new ScramCredentialUpsertion()
                .setName("ada")
                .setMechanism((byte) 1)
                .setIterations(4_096)
                .setSalt(Unpooled.wrappedBuffer(new byte[16]))
                .setSaltedPassword(Unpooled.wrappedBuffer(new byte[32]));
        AlterUserScramCredentialsResponse response = call(
                AlterUserScramCredentialsResponse.class,
                new AlterUserScramCredentialsRequest().setUpsertions(List.of(upsertion)),
                version);

        assertThat(response.results())
                .extracting(result -> result.user(), result -> error(result.errorCode()))
                .containsExactly(Tuple.tuple("ada", ErrorCode.CLUSTER_AUTHORIZATION_FAILED));
        assertThat(call(
                                DescribeUserScramCredentialsResponse.class,
                                new DescribeUserScramCredentialsRequest().setUsers(null),
                                0)
                        .results())
                .isEmpty();
    }

    @Test
    void shouldReportOneErrorForEachUserWhenTheRequestContradictsItself() throws Exception {
        ScramCredentialDeletion ada =
                new ScramCredentialDeletion().setName("ada").setMechanism((byte) 1);
        ScramCredentialDeletion bob =
                new ScramCredentialDeletion().setName("bob").setMechanism((byte) 9);

        AlterUserScramCredentialsResponse response = call(
                AlterUserScramCredentialsResponse.class,
                new AlterUserScramCredentialsRequest().setDeletions(List.of(ada, bob, ada)),
                0);

        assertThat(response.results())
                .extracting(result -> result.user(), result -> error(result.errorCode()))
                .containsExactly(
                        Tuple.tuple("ada", ErrorCode.DUPLICATE_RESOURCE),
                        Tuple.tuple("bob", ErrorCode.UNSUPPORTED_SASL_MECHANISM));
    }
}
