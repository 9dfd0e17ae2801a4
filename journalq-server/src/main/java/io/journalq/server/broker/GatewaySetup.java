package io.journalq.server.broker;

import io.journalq.server.api.ClientSession;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.config.ListenerSettings;
import io.journalq.server.gateway.BrokerView;
import io.journalq.server.gateway.confluent.ConsumerInstances;
import io.journalq.server.gateway.confluent.ConsumerRoutes;
import io.journalq.server.gateway.confluent.ProduceV2Route;
import io.journalq.server.gateway.confluent.ProduceV3Route;
import io.journalq.server.gateway.console.ConsoleRoute;
import io.journalq.server.gateway.consume.EventsRoute;
import io.journalq.server.gateway.consume.ReadRoute;
import io.journalq.server.gateway.consume.SearchRoute;
import io.journalq.server.gateway.guard.OriginRule;
import io.journalq.server.gateway.guard.RequestGuard;
import io.journalq.server.gateway.history.History;
import io.journalq.server.gateway.history.HistoryRoute;
import io.journalq.server.gateway.http.GatewayCounters;
import io.journalq.server.gateway.http.HttpDoor;
import io.journalq.server.gateway.http.OpenApiRoute;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.Routes;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.gateway.produce.ProduceRoute;
import io.journalq.server.gateway.produce.ProducersRoute;
import io.journalq.server.gateway.produce.Targets;
import io.journalq.server.gateway.rest.RestRoutes;
import io.journalq.server.gateway.websocket.WebSocketRoute;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.network.Acceptor;
import io.journalq.server.network.AllowedHosts;
import io.journalq.server.network.Door;
import io.journalq.server.observe.BrokerMetrics;
import io.journalq.server.observe.BrokerMetrics.Series;
import io.journalq.server.security.ClientThrottles;
import io.journalq.server.security.sasl.HttpLogins;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Sets up the HTTP gateway and its metrics. A broker without {@code gateway.listener} does not load this class, nor any
 * class of the gateway.
 */
final class GatewaySetup {
    /** What the operator can do if the address of the gateway is in use. */
    private static final String REMEDY = "set another in 'gateway.listener', or leave it empty for no gateway";

    private final BrokerConfig config;
    private final ListenerAddress address;
    private final ListenerTransports transports;
    private final GatewayCounters counters = new GatewayCounters();

    /** Null until the gateway is set up. */
    private volatile ConsumerInstances consumers;

    private GatewaySetup(BrokerConfig config, ListenerAddress address, ListenerTransports transports) {
        this.config = config;
        this.address = address;
        this.transports = transports;
    }

    /**
     * Prepares the gateway, which is not bound yet.
     *
     * @throws StartException when other machines could use it without being authenticated
     */
    static GatewaySetup of(BrokerConfig config, ListenerAddress address, ListenerTransports transports)
            throws StartException {
        boolean authenticated = transports.areGatewayClientsAuthenticated();
        if (address.isOpen() && !authenticated && !config.get(ListenerSettings.GATEWAY_ALLOW_ANONYMOUS)) {
            throw new StartException("gateway.listener: other machines can reach " + address.address()
                    + ", and the gateway does not authenticate its clients; bind localhost, use"
                    + " SASL_SSL, use SSL with ssl.client.auth=required, or set gateway.allow.anonymous=true");
        }
        return new GatewaySetup(config, address, transports);
    }

    /**
     * Binds the listener. Its connections wait until {@link Acceptor#accept}. The first one waits until the gateway is
     * set up, which a thread of the blocking pool does. The history begins at once.
     *
     * @param parts the parts of the broker that it shows
     * @param logins of clients, if they have to log in
     * @param connectionMemory is charged for connections
     * @return the port
     */
    int bind(
            Acceptor acceptor,
            BrokerCore core,
            LocalBrokerView.Parts parts,
            ClientThrottles throttles,
            HttpLogins logins,
            MemoryAccount connectionMemory)
            throws IOException {
        AllowedHosts hosts = BrokerNames.of(config, address.host(), config.get(ListenerSettings.GATEWAY_ALLOWED_HOSTS));
        BrokerView view = new LocalBrokerView(core, parts, counters);
        History history = new History(view, parts.epochMs());
        LoopCycle first = parts.cycles().get(0);
        first.execute(() -> history.start(first.loop()));
        Door door = new DeferredDoor("gateway", parts.blockingPool(), () -> {
            RequestGuard guard = new RequestGuard(
                    hosts,
                    new OriginRule(
                            config.get(ListenerSettings.GATEWAY_ALLOWED_ORIGINS), transports.isGatewayEncrypted()));
            HttpDoor.Services services = new HttpDoor.Services(
                    routes(core, parts, view, history),
                    guard,
                    core.handlers(),
                    core.localCalls(),
                    new HttpDoor.Clients(
                            transports.principals()::of,
                            transports.needsGatewayLogins() ? logins : null,
                            (principal, pause) -> new ClientSession(principal, throttles, connectionMemory, pause)),
                    throttles,
                    counters);
            return new HttpDoor(services, transports.gateway());
        });
        return acceptor.bind(door, address.name(), address.host(), address.port(), REMEDY);
    }

    /** Checks that the address of the gateway can be bound, see {@link Acceptor#requireFree(String, int, String)}. */
    void requireFree() throws IOException {
        Acceptor.requireFree(address.host(), address.port(), REMEDY);
    }

    private Routes routes(BrokerCore core, LocalBrokerView.Parts parts, BrokerView view, History history) {
        Supplier<MetadataImage> images = core::metadata;
        Targets targets = new Targets(images, config, parts.epochMs());
        List<Route> all = new ArrayList<>(List.of(
                new ProduceRoute(targets),
                new ProducersRoute(targets),
                new ReadRoute(images),
                new EventsRoute(images),
                new WebSocketRoute(images, targets)));
        all.addAll(RestRoutes.all(images, view));
        all.addAll(List.of(
                new ProduceV2Route(targets, false),
                new ProduceV2Route(targets, true),
                new ProduceV3Route(targets, images)));
        consumers = new ConsumerInstances(images, config.get(ListenerSettings.GATEWAY_CONSUMER_INSTANCE_TIMEOUT_MS));
        all.addAll(new ConsumerRoutes(consumers, images, transports.isGatewayEncrypted()).routes());
        all.add(new SearchRoute(images));
        all.add(new HistoryRoute(history));
        all.addAll(ConsoleRoute.all(parts.blockingPool()));
        all.add(new OpenApiRoute(all, view.version()));
        return new Routes(all);
    }

    /** The broker stops: what clients have left in the gateway leaves its groups. */
    void stop() {
        ConsumerInstances open = consumers;
        if (open != null) {
            open.close();
        }
    }

    /** Adds the metrics of the gateway. */
    void show(BrokerMetrics metrics) {
        metrics.gauge(
                "journalq.gateway.connections", "Open connections of the HTTP gateway.", counters::openConnections);
        metrics.gauge(
                "journalq.gateway.streams",
                "Open streams of server-sent events of the HTTP gateway.",
                counters::openStreams);
        metrics.gauge("journalq.gateway.websockets", "Open WebSockets of the HTTP gateway.", counters::openWebSockets);
        metrics.gauge(
                "journalq.gateway.consumer.instances",
                "Consumer instances of the HTTP gateway (/consumers).",
                () -> consumers == null ? 0 : consumers.count());
        metrics.counter(
                "journalq.gateway.connections.over.limit",
                "Connections of the HTTP gateway closed on arrival because 2,000 were open.",
                counters::connectionsOverLimit);
        metrics.counters(
                "journalq.gateway.requests",
                "Responses of the HTTP gateway, by route and status. Requests without a route have route=\"(none)\".",
                List.of("route", "status"),
                this::requests);
        metrics.counters(
                "journalq.gateway.problems",
                "Problem responses of the HTTP gateway, by the type of the problem.",
                List.of("problem"),
                this::problems);
        metrics.counter(
                "journalq.gateway.appended.records",
                "Records appended by requests to the HTTP gateway.",
                counters::appendedRecords);
        metrics.counter(
                "journalq.gateway.read.records",
                "Records in responses of the HTTP gateway. Counted at the end of each response, and for"
                        + " server-sent events after each fetch.",
                counters::readRecords);
        metrics.counter(
                "journalq.gateway.fetches",
                "Fetches of records for clients of the HTTP gateway. Streams of server-sent events that wait for the same"
                        + " records share one.",
                counters::fetches);
    }

    private List<Series> requests() {
        return counters.responses().stream()
                .map(responses -> new Series(
                        List.of(responses.route(), String.valueOf(responses.status())), (double) responses.count()))
                .toList();
    }

    private List<Series> problems() {
        List<Series> series = new ArrayList<>();
        for (ProblemType type : ProblemType.values()) {
            series.add(new Series(List.of(type.label()), (double) counters.problems(type)));
        }
        return series;
    }
}
