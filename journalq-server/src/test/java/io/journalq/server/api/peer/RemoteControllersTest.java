package io.journalq.server.api.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Outcome;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.Loop;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.peer.PeerChannel;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.peer.PeerRequests;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a broker learns from the responses of the controller. */
class RemoteControllersTest {
    private static final int CONTROLLER = 1;

    private final EventLoops loops = new EventLoops(1);

    @AfterEach
    void close() {
        loops.close();
    }

    /** Names its topics in their alphabetical order, as the handler of CreateTopics does. */
    private static final class SortingController implements PeerChannel {
        @Override
        public void send(ApiMessage request, int version, int timeoutMs, ResponseListener listener) {
            listener.onResponse(new CreateTopicsResponse()
                    .setTopics(((CreateTopicsRequest) request)
                            .topics().stream()
                                    .map(CreateTopicsRequest.CreatableTopic::name)
                                    .sorted()
                                    .map(SortingController::result)
                                    .toList()));
        }

        private static CreateTopicsResponse.CreatableTopicResult result(String name) {
            boolean refused = name.equals("refused");
            return new CreateTopicsResponse.CreatableTopicResult()
                    .setName(name)
                    .setTopicId(refused ? Uuid.ZERO : new Uuid(1, name.length()))
                    .setErrorCode((refused ? ErrorCode.POLICY_VIOLATION : ErrorCode.NONE).code());
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    /** The connections for heartbeats. */
    private static final class Heartbeats implements PeerChannels {
        @Override
        public CompletableFuture<ApiMessage> send(
                String host, int port, ApiMessage request, int version, int timeoutMs) {
            throw new AssertionError("the response to " + request.apiKey() + " would delay those to heartbeats");
        }

        @Override
        public PeerChannel open(String host, int port, Loop loop) {
            throw new AssertionError("the connection for topics is opened by another class");
        }

        @Override
        public void close() {}
    }

    @Test
    void shouldKnowTheOutcomeOfEachTopicWhenTheResponseHasAnotherOrder() throws Exception {
        // given
        RemoteControllers controllers = new RemoteControllers(
                () -> "cluster",
                2,
                node -> new ListenerAddress("PEERS", "localhost", 9092),
                new Heartbeats(),
                new PeerRequests(loops.cycles().get(0), node -> new SortingController()));

        // when
        List<Outcome> outcomes = controllers
                .of(CONTROLLER)
                .createTopics(List.of(topic("refused"), topic("created")), false)
                .get(10, TimeUnit.SECONDS);

        // then
        assertThat(outcomes).extracting(Outcome::error).containsExactly(ErrorCode.POLICY_VIOLATION, ErrorCode.NONE);
        assertThat(outcomes.get(1).topicId()).isEqualTo(new Uuid(1, "created".length()));
    }

    private static TopicSpec topic(String name) {
        return new TopicSpec(name, TopicSpec.DEFAULT, TopicSpec.DEFAULT, List.of(), Map.of());
    }
}
