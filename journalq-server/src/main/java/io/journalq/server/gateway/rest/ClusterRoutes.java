package io.journalq.server.gateway.rest;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponsePartition;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponseTopic;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.gateway.BrokerView;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** {@code /v1/session}, {@code /v1/cluster} and {@code /v1/broker}: who asks, the brokers, and the health of this one. */
record ClusterRoutes(Supplier<MetadataImage> images, BrokerView broker) {
    List<Route> routes() {
        return List.of(
                RestRoute.get("/v1/session", RouteDescription.of("shows who the client is"), this::session),
                RestRoute.get(
                        "/v1/cluster", RouteDescription.of("describes the brokers of the cluster"), this::cluster),
                RestRoute.get("/v1/broker", RouteDescription.of("shows the health of this broker"), this::health));
    }

    private void session(RestRequest request) {
        request.respond(json -> {
            json.writeStringField("principal", request.exchange().principal().toString());
            json.writeBooleanField("authorization", request.exchange().enforcesRights());
            json.writeStringField("clusterId", images.get().clusterId());
            json.writeNumberField("broker", broker.nodeId());
            json.writeStringField("version", broker.version());
        });
    }

    private void cluster(RestRequest request) {
        TopicRoutes.metadata(request, null, metadata -> {
            MetadataImage image = images.get();
            Map<Integer, Load> loads = new HashMap<>();
            image.brokers().forEach(each -> loads.put(each.nodeId(), new Load()));
            long partitions = 0;
            long offline = 0;
            long underReplicated = 0;
            for (MetadataResponseTopic topic : metadata.topics()) {
                for (MetadataResponsePartition partition : topic.partitions()) {
                    partitions++;
                    offline += TopicRoutes.isOffline(partition) ? 1 : 0;
                    underReplicated += partition.isrNodes().size()
                                    < partition.replicaNodes().size()
                            ? 1
                            : 0;
                    loads.computeIfAbsent(partition.leaderId(), none -> new Load()).leaders++;
                    for (int replica : partition.replicaNodes()) {
                        loads.computeIfAbsent(replica, none -> new Load()).replicas++;
                    }
                }
            }
            Totals totals = new Totals(metadata.topics().size(), partitions, offline, underReplicated);
            respond(request, metadata, image, loads, totals);
        });
    }

    /** How many partitions a broker has. */
    private static final class Load {
        private long leaders;
        private long replicas;
    }

    private record Totals(int topics, long partitions, long offline, long underReplicated) {}

    private void respond(
            RestRequest request,
            MetadataResponse metadata,
            MetadataImage image,
            Map<Integer, Load> loads,
            Totals totals) {
        request.respond(json -> {
            json.writeStringField("clusterId", metadata.clusterId());
            json.writeNumberField("controller", metadata.controllerId());
            json.writeNumberField("broker", broker.nodeId());
            json.writeNumberField("topics", totals.topics());
            json.writeNumberField("partitions", totals.partitions());
            json.writeNumberField("offlinePartitions", totals.offline());
            json.writeNumberField("underReplicatedPartitions", totals.underReplicated());
            json.writeArrayFieldStart("brokers");
            for (BrokerImage each : image.brokers()) {
                Load load = loads.get(each.nodeId());
                json.writeStartObject();
                json.writeNumberField("id", each.nodeId());
                json.writeStringField("rack", each.rack().isEmpty() ? null : each.rack());
                json.writeBooleanField("live", each.isLive());
                json.writeNumberField("leaders", load.leaders);
                json.writeNumberField("replicas", load.replicas);
                json.writeArrayFieldStart("listeners");
                for (ListenerAddress listener : each.registration().listeners()) {
                    json.writeStartObject();
                    json.writeStringField("name", listener.name());
                    json.writeStringField("address", listener.address());
                    json.writeEndObject();
                }
                json.writeEndArray();
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }

    private void health(RestRequest request) {
        request.exchange().checkRight(ApiKey.DESCRIBE_LOG_DIRS, Right.DESCRIBE_CLUSTER, AclResourceType.CLUSTER_NAME);
        request.await(broker.health(), health -> request.respond(json -> write(json, health)));
    }

    private void write(JsonGenerator json, BrokerView.BrokerHealth health) throws IOException {
        json.writeStringField("status", health.status());
        json.writeNumberField("broker", broker.nodeId());
        json.writeStringField("version", broker.version());
        json.writeStringField("java", health.javaVersion());
        json.writeNumberField("started", health.startedMs());
        json.writeObjectFieldStart("memory");
        json.writeNumberField("heapUsedBytes", health.heapUsedBytes());
        json.writeNumberField("heapMaxBytes", health.heapMaxBytes());
        json.writeNumberField("directBytes", health.directBytes());
        json.writeEndObject();
        json.writeNumberField("connections", health.connections());
        json.writeNumberField("gatewayConnections", health.gatewayConnections());
        json.writeNumberField("gatewayStreams", health.gatewayStreams());
        json.writeNumberField("oldestUnsyncedMs", health.oldestUnsyncedMs());
        json.writeNumberField("hangingTransactions", health.hangingTransactions());
        json.writeNumberField("offlinePartitions", health.offlinePartitions());
        json.writeFieldName("offlinePartitionNames");
        json.writeArray(
                health.offlinePartitionNames().toArray(String[]::new),
                0,
                health.offlinePartitionNames().size());
        json.writeArrayFieldStart("loops");
        for (BrokerView.LoopHealth loop : health.loops()) {
            json.writeStartObject();
            json.writeNumberField("loop", loop.index());
            json.writeNumberField("appendedRecords", loop.appendedRecords());
            json.writeNumberField("appendedBytes", loop.appendedBytes());
            json.writeNumberField("fetchedBytes", loop.fetchedBytes());
            json.writeFieldName("iterations");
            write(json, loop.iterations());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeFieldName("syncs");
        write(json, health.syncs());
        json.writeArrayFieldStart("disks");
        for (BrokerView.Disk disk : health.disks()) {
            json.writeStartObject();
            json.writeStringField("directory", disk.directory());
            json.writeNumberField("totalBytes", disk.totalBytes());
            json.writeNumberField("usableBytes", disk.usableBytes());
            json.writeNumberField("journalBytes", disk.journalBytes());
            json.writeNumberField("partitions", disk.partitions());
            json.writeStringField("problem", disk.problem());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void write(JsonGenerator json, BrokerView.Histogram histogram) throws IOException {
        json.writeStartObject();
        json.writeNumberField("count", histogram.count());
        json.writeNumberField("p50Micros", histogram.quantileMicros(0.5));
        json.writeNumberField("p99Micros", histogram.quantileMicros(0.99));
        json.writeNumberField("p999Micros", histogram.quantileMicros(0.999));
        json.writeArrayFieldStart("buckets");
        for (BrokerView.Bucket bucket : histogram.buckets()) {
            json.writeStartObject();
            json.writeNumberField("upToMicros", bucket.upToMicros());
            json.writeNumberField("count", bucket.count());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }
}
