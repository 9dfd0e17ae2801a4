package io.journalq.chaos.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class BrokerReportsTest {
    private static final Path DATA = Path.of("/chaos/data");

    @Test
    void shouldReportADirectoryAsOfflineWhenTheHealthPageListsIt() {
        assertThat(BrokerReports.saysOffline(
                        """
                        {"status":"degraded","offlinePartitionCount":1,"offlinePartitions":["a-0"],\
                        "offlineDirectories":[{"directory":"/chaos/data","reason":"it was removed"}]}""",
                        DATA))
                .isTrue();
    }

    @Test
    void shouldFindTheLogLineWhenTheBrokerHasADefect() {
        String defect = "level=WARN logger=AbstractEventExecutor A task raised an exception. Task: a.B$1";
        assertThat(BrokerReports.unexpectedFailure("level=INFO broker started\n" + defect + "\n"))
                .isEqualTo(defect);
        assertThat(BrokerReports.unexpectedFailure("level=INFO broker started\nlevel=ERROR offline\n"))
                .isNull();
    }

    @Test
    void shouldFindWhenBrokersWereFenced() {
        String log =
                """
                time=2026-11-29T00:11:58.397Z level=WARN logger=Other thread=a fencing nothing
                time=2026-11-29T00:11:59.035Z level=WARN logger=BrokerLiveness thread=journalq-controller \
                fencing brokers that do not respond: brokers=[2, 16]
                """;
        Instant at = Instant.parse("2026-11-29T00:11:59.035Z");
        assertThat(BrokerReports.fencings(log))
                .containsExactly(new BrokerReports.Fencing(at, 2), new BrokerReports.Fencing(at, 16));
    }

    @Test
    void shouldFindWhenABrokerRemovedWhatItsLeaderDoesNotHave() {
        String log =
                """
                time=2026-12-01T04:15:50.663Z level=INFO logger=FetchedBatches thread=shard-2-2 \
                the end of the log differs from the leader's: partition=t-1 end=140 cutTo=127
                time=2026-12-01T04:15:51.000Z level=INFO logger=Other thread=a nothing
                """;
        assertThat(BrokerReports.cuts(log)).containsExactly(Instant.parse("2026-12-01T04:15:50.663Z"));
    }

    @Test
    void shouldNotReportADirectoryAsOfflineWhenTheHealthPageDoesNotListIt() {
        // the broker is starting, has lost only partitions, or has lost another directory
        assertThat(BrokerReports.saysOffline("{\"status\":\"down\"}", DATA)).isFalse();
        assertThat(BrokerReports.saysOffline(
                        "{\"status\":\"degraded\",\"offlinePartitionCount\":1,\"offlinePartitions\":[\"a-0\"]}", DATA))
                .isFalse();
        assertThat(BrokerReports.saysOffline(
                        "{\"status\":\"degraded\",\"offlineDirectories\":[{\"directory\":\"/chaos/data-2\",\"reason\":\"\"}]}",
                        DATA))
                .isFalse();
    }
}
