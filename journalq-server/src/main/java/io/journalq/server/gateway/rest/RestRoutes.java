package io.journalq.server.gateway.rest;

import io.journalq.server.gateway.BrokerView;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.metadata.MetadataImage;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** All routes of this package. Stateless. */
public final class RestRoutes {
    private RestRoutes() {}

    /**
     * Creates the routes.
     *
     * @param images supplies the newest image
     * @param broker this broker
     */
    public static List<Route> all(Supplier<MetadataImage> images, BrokerView broker) {
        List<Route> routes = new ArrayList<>(new TopicRoutes().routes());
        routes.addAll(ConfigRoutes.routes());
        routes.addAll(new GroupRoutes(images, broker).routes());
        routes.addAll(new ClusterRoutes(images, broker).routes());
        routes.addAll(QuotaRoutes.routes());
        routes.addAll(TransactionRoutes.routes());
        routes.addAll(AccessRoutes.routes());
        return routes;
    }
}
