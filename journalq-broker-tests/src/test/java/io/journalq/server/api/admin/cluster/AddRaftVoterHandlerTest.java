package io.journalq.server.api.admin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class AddRaftVoterHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.ADD_RAFT_VOTER)
    void shouldSayWhatToDoWhenTheBrokerHasNoQuorum(int version) throws Exception {
        AddRaftVoterResponse response = add(voter(), version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.INVALID_REQUEST);
        assertThat(response.errorMessage())
                .isEqualTo("broker 0 has no metadata quorum; set quorum.listener on it, and restart it");
    }

    @Test
    void shouldRefuseAVoterOfAnotherCluster() throws Exception {
        AddRaftVoterResponse response = add(voter().setClusterId("another"), 0);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.INCONSISTENT_CLUSTER_ID);
    }

    @Test
    void shouldRefuseAVoterThatCannotBeReached() throws Exception {
        assertThat(error(add(voter().setVoterId(-1), 0).errorCode())).isEqualTo(ErrorCode.INVALID_REQUEST);
        assertThat(add(voter().setListeners(List.of()), 0).errorMessage())
                .isEqualTo("a voter has one listener, its quorum.listener");
        assertThat(add(voter().setListeners(listener("", 9093)), 0).errorMessage())
                .isEqualTo("a listener has a host and a port from 1 to 65535");
        assertThat(add(voter().setListeners(listener("localhost", 0)), 0).errorMessage())
                .isEqualTo("a listener has a host and a port from 1 to 65535");
    }

    private static AddRaftVoterRequest voter() {
        return new AddRaftVoterRequest()
                .setClusterId(null)
                .setTimeoutMs(TIMEOUT_MS)
                .setVoterId(2)
                .setVoterDirectoryId(Uuid.parse("z-UUZZbJN8hh6N5z7oEyCQ"))
                .setListeners(listener("localhost", 9093));
    }

    private static List<AddRaftVoterRequest.Listener> listener(String host, int port) {
        return List.of(new AddRaftVoterRequest.Listener()
                .setName("QUORUM")
                .setHost(host)
                .setPort(port));
    }

    private AddRaftVoterResponse add(AddRaftVoterRequest request, int version) throws Exception {
        return call(AddRaftVoterResponse.class, request, version);
    }
}
