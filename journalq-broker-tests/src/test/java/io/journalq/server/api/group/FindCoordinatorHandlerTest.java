package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class FindCoordinatorHandlerTest extends HandlerTestBase {
    private static final int FIRST_BATCHED_VERSION = 4;
    private static final byte NO_SUCH_TYPE = 9;

    @ServedVersions(ApiKey.FIND_COORDINATOR)
    void shouldNameTheBroker(int version) throws Exception {
        if (version < FIRST_BATCHED_VERSION) {
            FindCoordinatorResponse response =
                    call(FindCoordinatorResponse.class, new FindCoordinatorRequest().setKey("g"), version);
            assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
            assertThat(response.nodeId()).isZero();
            assertThat(response.port()).isEqualTo(broker.port());
            return;
        }
        FindCoordinatorRequest request = new FindCoordinatorRequest().setCoordinatorKeys(List.of("g", "h"));
        FindCoordinatorResponse response = call(FindCoordinatorResponse.class, request, version);
        assertThat(response.coordinators())
                .extracting(FindCoordinatorResponse.Coordinator::key)
                .containsExactly("g", "h");
        assertThat(response.coordinators()).allSatisfy(coordinator -> {
            assertThat(error(coordinator.errorCode())).isEqualTo(ErrorCode.NONE);
            assertThat(coordinator.nodeId()).isZero();
            assertThat(coordinator.port()).isEqualTo(broker.port());
        });
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchTypeOfCoordinator() throws Exception {
        FindCoordinatorRequest request =
                new FindCoordinatorRequest().setKeyType(NO_SUCH_TYPE).setCoordinatorKeys(List.of("g"));

        FindCoordinatorResponse response = call(FindCoordinatorResponse.class, request, 6);

        assertThat(error(response.coordinators().get(0).errorCode())).isEqualTo(ErrorCode.INVALID_REQUEST);
    }
}
