package io.journalq.server.api.admin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import org.junit.jupiter.api.Test;

class UnregisterBrokerHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.UNREGISTER_BROKER)
    void shouldRefuseABrokerThatIsRunning(int version) throws Exception {
        UnregisterBrokerResponse response = unregister(0, version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.INVALID_REQUEST);
        assertThat(response.errorMessage()).isEqualTo("broker 0 is running; stop it first");
    }

    @Test
    void shouldRefuseABrokerThatDoesNotExist() throws Exception {
        assertThat(error(unregister(77, 0).errorCode())).isEqualTo(ErrorCode.BROKER_ID_NOT_REGISTERED);
    }

    private UnregisterBrokerResponse unregister(int broker, int version) throws Exception {
        return call(UnregisterBrokerResponse.class, new UnregisterBrokerRequest().setBrokerId(broker), version);
    }
}
