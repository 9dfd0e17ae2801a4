package io.journalq.server.api.admin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import org.junit.jupiter.api.Test;

class RemoveRaftVoterHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.REMOVE_RAFT_VOTER)
    void shouldSayWhatToDoWhenTheBrokerHasNoQuorum(int version) throws Exception {
        RemoveRaftVoterResponse response = remove(null, version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.INVALID_REQUEST);
        assertThat(response.errorMessage())
                .isEqualTo("broker 0 has no metadata quorum; set quorum.listener on it, and restart it");
    }

    @Test
    void shouldRefuseARequestForAnotherCluster() throws Exception {
        assertThat(error(remove("another", 0).errorCode())).isEqualTo(ErrorCode.INCONSISTENT_CLUSTER_ID);
    }

    private RemoveRaftVoterResponse remove(String clusterId, int version) throws Exception {
        RemoveRaftVoterRequest request =
                new RemoveRaftVoterRequest().setClusterId(clusterId).setVoterId(2);
        return call(RemoveRaftVoterResponse.class, request, version);
    }
}
