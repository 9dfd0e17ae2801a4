package io.journalq.server.gateway.produce;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.ProtocolErrors;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Map;

/**
 * {@code POST /v1/topics/{topic}/producers}: creates an idempotent producer, with which requests that append records can be
 * repeated. The broker keeps nothing for it before it appends. Any thread.
 */
public final class ProducersRoute implements Route {
    private static final int VERSION = 4;
    private static final RouteDescription DESCRIPTION =
            RouteDescription.of("creates a producer, whose requests can be repeated and are appended once");

    private final Targets targets;

    /** @param targets finds the topics */
    public ProducersRoute(Targets targets) {
        this.targets = targets;
    }

    @Override
    public HttpMethod method() {
        return HttpMethod.POST;
    }

    @Override
    public String template() {
        return "/v1/topics/{topic}/producers";
    }

    @Override
    public RouteDescription description() {
        return DESCRIPTION;
    }

    @Override
    public RequestBody open(HttpExchange exchange) {
        exchange.checkParameters(DESCRIPTION);
        Targets.Target target = targets.find(exchange, exchange.pathParameter("topic"));
        return new RequestBody() {
            @Override
            public void onData(ByteBuf data) {
                throw HttpExchange.invalid("the request has a body", "leave it out");
            }

            @Override
            public void onEnd() {
                InitProducerIdRequest request = new InitProducerIdRequest()
                        .setTransactionalId(null)
                        .setProducerId(-1)
                        .setProducerEpoch((short) -1);
                exchange.call(
                        ApiKey.INIT_PRODUCER_ID, VERSION, request, 0, created -> respond(exchange, target, created));
            }

            @Override
            public void onClosed() {
                // Nothing is held.
            }
        };
    }

    private static void respond(HttpExchange exchange, Targets.Target target, ApiMessage created) {
        ErrorCode error = created instanceof InitProducerIdResponse response
                ? ErrorCode.of(response.errorCode())
                : ErrorCode.UNKNOWN_SERVER_ERROR;
        ProtocolErrors.check(error.code(), null, "producer");
        InitProducerIdResponse producer = (InitProducerIdResponse) created;
        ProducerToken token =
                new ProducerToken(producer.producerId(), producer.producerEpoch(), target.partitions(), Map.of());
        exchange.respond(HttpResponseStatus.OK, JsonOut.object(exchange.allocator(), json -> {
            json.writeStringField("topic", target.topic());
            json.writeStringField("producer", token.toString());
        }));
    }
}
