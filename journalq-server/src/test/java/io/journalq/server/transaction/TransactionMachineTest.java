package io.journalq.server.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.ListTransactionsRequest;
import io.journalq.server.coordinator.BoundedPattern;
import io.journalq.server.transaction.Markers.MarkerRequest;
import io.journalq.server.transaction.TransactionMachine.ProducerClaim;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The behaviour of transactions, step by step; time advances only when a test advances it. */
class TransactionMachineTest {
    private static final String ID = "payments";
    private static final int TIMEOUT_MS = 5_000;
    private static final short FIRST = 4;
    private static final short SECOND = 5;
    private static final List<TopicPartition> PARTITIONS =
            List.of(new TopicPartition("a", 1), new TopicPartition("b", 0));

    private final TransactionWorld world = new TransactionWorld();

    @Test
    void shouldCommitInTheSameEpochWhenTheRequestIsOfTheFirstGeneration() {
        // given an open transaction
        InitProducerIdResponse producer = init();
        assertThat(add(producer.producerId(), producer.producerEpoch())).isEqualTo(ErrorCode.NONE);
        assertThat(world.state(ID)).isEqualTo("Ongoing");
        // when it is committed
        EndTxnResponse ended = end(FIRST, producer.producerId(), producer.producerEpoch(), true);
        // then every partition is informed, and the next one begins only after that
        assertThat(ended.errorCode()).isZero();
        MarkerRequest request = world.markers.get(ID);
        assertThat(request)
                .isEqualTo(new MarkerRequest(
                        ID,
                        producer.producerId(),
                        producer.producerEpoch(),
                        true,
                        TransactionVersion.FIRST,
                        PARTITIONS));
        assertThat(add(producer.producerId(), producer.producerEpoch())).isEqualTo(ErrorCode.CONCURRENT_TRANSACTIONS);
        world.completeMarkers(request);
        assertThat(world.state(ID)).isEqualTo("CompleteCommit");
        assertThat(add(producer.producerId(), producer.producerEpoch())).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldRespondWithTheNextEpochWhenTheRequestIsOfTheSecondGeneration() {
        InitProducerIdResponse producer = init();
        add(producer.producerId(), producer.producerEpoch());
        EndTxnResponse ended = end(SECOND, producer.producerId(), producer.producerEpoch(), false);
        assertThat(ended.producerId()).isEqualTo(producer.producerId());
        assertThat(ended.producerEpoch()).isEqualTo((short) (producer.producerEpoch() + 1));
        assertThat(world.markers.get(ID).producerEpoch()).isEqualTo(ended.producerEpoch());
        // a repeated request gets the same response, once the partitions are informed
        assertThat(end(SECOND, producer.producerId(), producer.producerEpoch(), false)
                        .errorCode())
                .isEqualTo(ErrorCode.CONCURRENT_TRANSACTIONS.code());
        world.completeMarkers(world.markers.get(ID));
        assertThat(end(SECOND, producer.producerId(), producer.producerEpoch(), false))
                .isEqualTo(ended);
        assertThat(end(SECOND, producer.producerId(), producer.producerEpoch(), true)
                        .errorCode())
                .isEqualTo(ErrorCode.INVALID_TXN_STATE.code());
    }

    @Test
    void shouldNotTakeAProducerForAnOldOneWhenItEndsTheNextTransactionBeforeTheLastIsComplete() {
        // given a transaction whose end is known to the producer, but not to its partitions yet
        InitProducerIdResponse producer = init();
        add(producer.producerId(), producer.producerEpoch());
        EndTxnResponse ended = end(SECOND, producer.producerId(), producer.producerEpoch(), true);
        // when it aborts the next one before any of its records arrived
        EndTxnResponse early = end(SECOND, ended.producerId(), ended.producerEpoch(), false);
        // then it must retry, and succeeds once the partitions are informed
        assertThat(early.errorCode()).isEqualTo(ErrorCode.CONCURRENT_TRANSACTIONS.code());
        world.completeMarkers(world.markers.get(ID));
        EndTxnResponse again = end(SECOND, ended.producerId(), ended.producerEpoch(), false);
        assertThat(again.errorCode()).isZero();
        assertThat(again.producerEpoch()).isEqualTo((short) (ended.producerEpoch() + 1));
    }

    @Test
    void shouldTellNobodyBeforeTheDecisionIsSafe() {
        InitProducerIdResponse producer = init();
        add(producer.producerId(), producer.producerEpoch());
        AtomicReference<EndTxnResponse> response = new AtomicReference<>();
        world.machine.onEndTransaction(
                SECOND, endRequest(producer.producerId(), (short) 0, true), world.nowMs, world.reply(response::set));
        assertThat(response.get()).isNull();
        assertThat(world.markers).isEmpty();
        // a crash reverts it
        world.crash(true);
        assertThat(world.state(ID)).isEqualTo("Ongoing");
        // and once it is safe it is permanent
        end(SECOND, producer.producerId(), producer.producerEpoch(), true);
        MarkerRequest told = world.markers.get(ID);
        world.crash(true);
        assertThat(world.markers.get(ID)).isEqualTo(told);
    }

    @Test
    void shouldAbortAndFenceWhenAnotherProducerTakesOver() {
        InitProducerIdResponse first = init();
        add(first.producerId(), first.producerEpoch());
        // when another producer starts, the open transaction is aborted first
        assertThat(init().errorCode()).isEqualTo(ErrorCode.CONCURRENT_TRANSACTIONS.code());
        MarkerRequest abort = world.markers.get(ID);
        assertThat(abort.commit()).isFalse();
        assertThat(abort.producerEpoch()).isEqualTo((short) 1);
        world.completeMarkers(abort);
        InitProducerIdResponse second = init();
        assertThat(second.producerId()).isEqualTo(first.producerId());
        assertThat(second.producerEpoch()).isEqualTo((short) 2);
        // then the first is fenced, with the error of its version
        assertThat(add(first.producerId(), first.producerEpoch())).isEqualTo(ErrorCode.PRODUCER_FENCED);
        assertThat(end((short) 1, first.producerId(), first.producerEpoch(), true)
                        .errorCode())
                .isEqualTo(ErrorCode.INVALID_PRODUCER_EPOCH.code());
        assertThat(end(SECOND, first.producerId(), first.producerEpoch(), true).errorCode())
                .isEqualTo(ErrorCode.PRODUCER_FENCED.code());
        assertThat(add(77, (short) 0)).isEqualTo(ErrorCode.INVALID_PRODUCER_ID_MAPPING);
    }

    @Test
    void shouldGoOnOnlyAsTheNewestWhenAProducerSaysWhoItIs() {
        InitProducerIdResponse first = init();
        InitProducerIdResponse recovered = init(4, first.producerId(), first.producerEpoch());
        assertThat(recovered.producerEpoch()).isEqualTo((short) 1);
        // repeated, because the response was lost
        assertThat(init(4, first.producerId(), first.producerEpoch())).isEqualTo(recovered);
        // no longer once another producer has taken over
        InitProducerIdResponse other = init();
        assertThat(other.producerEpoch()).isEqualTo((short) 2);
        assertThat(init(4, first.producerId(), first.producerEpoch()).errorCode())
                .isEqualTo(ErrorCode.PRODUCER_FENCED.code());
        assertThat(init(3, recovered.producerId(), recovered.producerEpoch()).errorCode())
                .isEqualTo(ErrorCode.INVALID_PRODUCER_EPOCH.code());
    }

    @Test
    void shouldTakeAnotherProducerIdWhenEpochsAreUsedUp() {
        InitProducerIdResponse producer = init();
        world.useUpEpochsBefore((short) (TransactionMetadata.LAST_EPOCH - 1));
        short epoch = end(SECOND, producer.producerId(), (short) (TransactionMetadata.LAST_EPOCH - 1), false)
                .producerEpoch();
        assertThat(epoch).isEqualTo(TransactionMetadata.LAST_EPOCH);
        add(producer.producerId(), epoch);
        EndTxnResponse ended = end(SECOND, producer.producerId(), epoch, true);
        assertThat(ended.errorCode()).isZero();
        assertThat(ended.producerId()).isNotEqualTo(producer.producerId());
        assertThat(ended.producerEpoch()).isZero();
        MarkerRequest markers = world.markers.get(ID);
        assertThat(markers.producerId()).isEqualTo(producer.producerId());
        assertThat(markers.producerEpoch()).isEqualTo(Short.MAX_VALUE);
        // then requests with the new id wait for the end
        AtomicReference<ErrorCode> added = new AtomicReference<>();
        world.machine.onProduce(
                new ProducerClaim(ID, ended.producerId(), (short) 0), PARTITIONS, world.nowMs, world.reply(added::set));
        assertThat(added.get()).isNull();
        world.crash(false);
        world.completeMarkers(markers);
        world.makeAllSafe();
        assertThat(end(SECOND, producer.producerId(), epoch, true)).isEqualTo(ended);
        assertThat(add(ended.producerId(), (short) 0)).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldContinueAProducerThatMissedTheResponseToTheEndOfItsTransaction() {
        // given a transaction that was committed in an epoch that its producer has not learned
        InitProducerIdResponse producer = init();
        add(producer.producerId(), producer.producerEpoch());
        EndTxnResponse missed = end(SECOND, producer.producerId(), producer.producerEpoch(), true);
        // when the producer starts again as the one that it was
        assertThat(init(4, producer.producerId(), producer.producerEpoch()).errorCode())
                .isEqualTo(ErrorCode.CONCURRENT_TRANSACTIONS.code());
        world.completeMarkers(world.markers.get(ID));
        world.makeAllSafe();
        world.crash(false);
        InitProducerIdResponse again = init(4, producer.producerId(), producer.producerEpoch());
        // then it gets the epoch that it has missed
        assertThat(again.errorCode()).isZero();
        assertThat(again.producerId()).isEqualTo(missed.producerId());
        assertThat(again.producerEpoch()).isEqualTo(missed.producerEpoch());
        // no longer once that epoch is used, or another producer has taken over
        add(again.producerId(), again.producerEpoch());
        assertThat(init(4, producer.producerId(), producer.producerEpoch()).errorCode())
                .isEqualTo(ErrorCode.PRODUCER_FENCED.code());
        end(SECOND, again.producerId(), again.producerEpoch(), true);
        world.completeMarkers(world.markers.get(ID));
        init();
        assertThat(init(4, again.producerId(), again.producerEpoch()).errorCode())
                .isEqualTo(ErrorCode.PRODUCER_FENCED.code());
    }

    @Test
    void shouldContinueWithTheNewProducerIdWhenTheResponseWithItWasMissed() {
        InitProducerIdResponse producer = init();
        world.useUpEpochsBefore(TransactionMetadata.LAST_EPOCH);
        add(producer.producerId(), TransactionMetadata.LAST_EPOCH);
        EndTxnResponse missed = end(SECOND, producer.producerId(), TransactionMetadata.LAST_EPOCH, true);
        assertThat(missed.producerEpoch()).isZero();
        world.completeMarkers(world.markers.get(ID));
        InitProducerIdResponse again = init(4, producer.producerId(), TransactionMetadata.LAST_EPOCH);
        assertThat(again.errorCode()).isZero();
        assertThat(again.producerId()).isEqualTo(missed.producerId());
        assertThat(again.producerEpoch()).isZero();
    }

    @Test
    void shouldFenceAProducerThatEndsItsTransactionWhenAnotherOneHasTakenOver() {
        // given a producer of the second generation, and one of the first that has taken over and aborted a transaction
        InitProducerIdResponse first = init();
        InitProducerIdResponse second = init();
        add(second.producerId(), second.producerEpoch());
        end(FIRST, second.producerId(), second.producerEpoch(), false);
        world.completeMarkers(world.markers.get(ID));
        // when the earlier one aborts
        EndTxnResponse late = end(SECOND, first.producerId(), first.producerEpoch(), false);
        // then it does not get the epoch of the other
        assertThat(late.errorCode()).isEqualTo(ErrorCode.PRODUCER_FENCED.code());
        // nor its producer id
        world.useUpEpochsBefore(TransactionMetadata.LAST_EPOCH);
        InitProducerIdResponse third = init();
        add(third.producerId(), third.producerEpoch());
        end(FIRST, third.producerId(), third.producerEpoch(), false);
        world.completeMarkers(world.markers.get(ID));
        assertThat(end(SECOND, second.producerId(), TransactionMetadata.LAST_EPOCH, false)
                        .errorCode())
                .isEqualTo(ErrorCode.INVALID_PRODUCER_ID_MAPPING.code());
    }

    @Test
    void shouldLetAProducerSendAgainWhenTheEndOfItsLastTransactionTakesLong() {
        // given records of the next transaction, while partitions cannot be informed about the last one
        InitProducerIdResponse producer = init();
        add(producer.producerId(), producer.producerEpoch());
        EndTxnResponse ended = end(SECOND, producer.producerId(), producer.producerEpoch(), true);
        AtomicReference<ErrorCode> first = produce(ended);
        world.nowMs += 1;
        AtomicReference<ErrorCode> second = produce(ended);
        // when they have waited for too long
        world.nowMs += TransactionLimits.MAX_WAIT_MS - 2;
        world.tick();
        assertThat(first.get()).isNull();
        world.nowMs += 1;
        world.tick();
        // then they are refused, and later ones wait until the partitions are informed
        assertThat(first.get()).isEqualTo(ErrorCode.CONCURRENT_TRANSACTIONS);
        assertThat(second.get()).isNull();
        AtomicReference<ErrorCode> third = produce(ended);
        world.completeMarkers(world.markers.get(ID));
        world.makeAllSafe();
        assertThat(second.get()).isEqualTo(ErrorCode.NONE);
        assertThat(third.get()).isEqualTo(ErrorCode.NONE);
        world.nowMs += TransactionLimits.MAX_WAIT_MS;
        world.tick();
        assertThat(world.state(ID)).isEqualTo("Ongoing");
    }

    @Test
    void shouldNeverRespondWithTheEpochThatAProducerGivesUp() {
        // given a producer with the last epoch, and no producer id for it
        InitProducerIdResponse producer = init();
        world.useUpEpochsBefore(TransactionMetadata.LAST_EPOCH);
        AtomicReference<InitProducerIdResponse> response = new AtomicReference<>();
        world.machine.onInitProducerId(
                (short) 4,
                request().setProducerId(producer.producerId()).setProducerEpoch(TransactionMetadata.LAST_EPOCH),
                world.nowMs,
                world.reply(response::set));
        world.giveProducerId(false);
        world.makeAllSafe();
        assertThat(response.get().errorCode()).isEqualTo(ErrorCode.COORDINATOR_NOT_AVAILABLE.code());
        // when it asks again
        InitProducerIdResponse again = init(4, producer.producerId(), TransactionMetadata.LAST_EPOCH);
        // then it gets another producer id: it restarts its sequence numbers, which the old epoch has used
        assertThat(again.errorCode()).isZero();
        assertThat(again.producerId()).isNotEqualTo(producer.producerId());
        assertThat(again.producerEpoch()).isZero();
    }

    @Test
    void shouldRefuseRequestsWhileATransactionWaitsForAProducerIdToBeAborted() {
        // given a transaction in the last epoch that has timed out, which needs another producer id
        InitProducerIdResponse producer = init();
        world.useUpEpochsBefore(TransactionMetadata.LAST_EPOCH);
        add(producer.producerId(), TransactionMetadata.LAST_EPOCH);
        world.nowMs += TIMEOUT_MS;
        world.tick();
        world.nowMs += TIMEOUT_MS;
        world.tick();
        assertThat(world.idQuestions).containsExactly(ID);

        // when the producer commits it, or adds a partition, before there is one
        AtomicReference<EndTxnResponse> ended = new AtomicReference<>();
        world.machine.onEndTransaction(
                FIRST,
                endRequest(producer.producerId(), TransactionMetadata.LAST_EPOCH, true),
                world.nowMs,
                world.reply(ended::set));
        AtomicReference<ErrorCode> added = new AtomicReference<>();
        world.machine.onAddPartitions(
                new ProducerClaim(ID, producer.producerId(), TransactionMetadata.LAST_EPOCH),
                List.of(new TopicPartition("c", 0)),
                TransactionVersion.FIRST,
                world.nowMs,
                world.reply(added::set));
        world.makeAllSafe();

        // then it has to try again, and the transaction is aborted with exactly the partitions that it had
        assertThat(ended.get().errorCode()).isEqualTo(ErrorCode.CONCURRENT_TRANSACTIONS.code());
        assertThat(added.get()).isEqualTo(ErrorCode.CONCURRENT_TRANSACTIONS);
        world.giveProducerId(true);
        world.makeAllSafe();
        assertThat(world.state(ID)).isEqualTo("PrepareAbort");
        assertThat(world.markers.get(ID).commit()).isFalse();
        assertThat(world.markers.get(ID).partitions()).isEqualTo(PARTITIONS);
    }

    @Test
    void shouldNotCompleteATransactionWhenTheMarkersOfTheLastOneAreReportedAgain() {
        // given a transaction that is complete, and the next one in the same epoch
        InitProducerIdResponse producer = init();
        add(producer.producerId(), producer.producerEpoch());
        end(FIRST, producer.producerId(), producer.producerEpoch(), true);
        MarkerRequest last = world.markers.get(ID);
        world.completeMarkers(last);
        add(producer.producerId(), producer.producerEpoch());

        // when
        world.machine.onMarkersWritten(ID, last.producerId(), last.producerEpoch(), world.nowMs);

        // then it is still open
        assertThat(world.state(ID)).isEqualTo("Ongoing");

        // and one that ends in a later epoch waits for its own markers
        end(SECOND, producer.producerId(), producer.producerEpoch(), true);
        world.machine.onMarkersWritten(ID, last.producerId(), last.producerEpoch(), world.nowMs);
        assertThat(world.state(ID)).isEqualTo("PrepareCommit");
    }

    @Test
    void shouldFenceAnEarlierProducerWhileItsSuccessorUsesTheNextEpoch() {
        // given a producer that went on in the next epoch, and has begun a transaction
        InitProducerIdResponse first = init();
        InitProducerIdResponse recovered = init(4, first.producerId(), first.producerEpoch());
        add(recovered.producerId(), recovered.producerEpoch());

        // when the request of its earlier life arrives again, then two producers must not have the same epoch
        assertThat(init(4, first.producerId(), first.producerEpoch()).errorCode())
                .isEqualTo(ErrorCode.PRODUCER_FENCED.code());
        assertThat(world.state(ID)).isEqualTo("Ongoing");
    }

    @Test
    void shouldFenceAnEarlierProducerWhenAnotherOneHasEndedATransactionOfTheFirstGeneration() {
        // given a producer that has taken over, whose transaction has ended in its own epoch
        InitProducerIdResponse first = init();
        InitProducerIdResponse second = init();
        add(second.producerId(), second.producerEpoch());
        end(FIRST, second.producerId(), second.producerEpoch(), true);
        world.completeMarkers(world.markers.get(ID));

        // when, then
        assertThat(init(4, first.producerId(), first.producerEpoch()).errorCode())
                .isEqualTo(ErrorCode.PRODUCER_FENCED.code());
    }

    @Test
    void shouldFenceAProducerWithAnyOtherEpoch() {
        InitProducerIdResponse producer = init();
        short later = (short) (producer.producerEpoch() + 1);

        assertThat(add(producer.producerId(), later)).isEqualTo(ErrorCode.PRODUCER_FENCED);

        // and an earlier one also while the end of a transaction is on its way
        InitProducerIdResponse newest = init();
        add(newest.producerId(), newest.producerEpoch());
        end(SECOND, newest.producerId(), newest.producerEpoch(), true);
        assertThat(end(SECOND, producer.producerId(), producer.producerEpoch(), true)
                        .errorCode())
                .isEqualTo(ErrorCode.PRODUCER_FENCED.code());
    }

    @Test
    void shouldCountTheTimeoutFromTheFirstPartition() {
        InitProducerIdResponse producer = init();
        add(producer.producerId(), producer.producerEpoch());
        world.nowMs += TIMEOUT_MS - 1;
        world.machine.onAddPartitions(
                new ProducerClaim(ID, producer.producerId(), producer.producerEpoch()),
                List.of(new TopicPartition("c", 0)),
                TransactionVersion.FIRST,
                world.nowMs,
                world.reply(error -> assertThat(error).isEqualTo(ErrorCode.NONE)));
        world.nowMs++;
        world.tick();

        assertThat(world.state(ID)).isEqualTo("PrepareAbort");
    }

    @Test
    void shouldNotForgetAnIdEarlierWhenTheClockIsSetBack() {
        InitProducerIdResponse producer = init();
        long beganMs = world.nowMs;
        world.nowMs -= 1_000;
        assertThat(init(4, producer.producerId(), producer.producerEpoch()).errorCode())
                .isZero();

        world.nowMs = beganMs + TransactionWorld.LIMITS.idExpirationMs() - 1;
        world.tick();
        assertThat(world.state(ID)).isEqualTo("Empty");
        world.nowMs++;
        world.tick();
        assertThat(world.machine.describe(ID).errorCode()).isEqualTo(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND.code());
    }

    @Test
    void shouldAbortAfterTheTimeoutAndExpireUnusedIds() {
        InitProducerIdResponse producer = init();
        add(producer.producerId(), producer.producerEpoch());
        world.nowMs += TIMEOUT_MS - 1;
        world.tick();
        assertThat(world.state(ID)).isEqualTo("Ongoing");
        world.nowMs++;
        world.tick();
        assertThat(world.state(ID)).isEqualTo("PrepareAbort");
        assertThat(world.markers).isEmpty();
        world.makeAllSafe();
        world.completeMarkers(world.markers.get(ID));
        assertThat(end(FIRST, producer.producerId(), producer.producerEpoch(), true)
                        .errorCode())
                .isEqualTo(ErrorCode.PRODUCER_FENCED.code());
        world.nowMs += TransactionWorld.LIMITS.idExpirationMs();
        world.tick();
        assertThat(world.machine.describe(ID).errorCode()).isEqualTo(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND.code());
        world.makeAllSafe();
        world.crash(true);
        assertThat(world.machine.describe(ID).errorCode()).isEqualTo(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND.code());
    }

    @Test
    void shouldAbortAfterTheTimeoutWhenTheClockOfTheLastCoordinatorWasAhead() {
        InitProducerIdResponse producer = init();
        add(producer.producerId(), producer.producerEpoch());
        world.makeAllSafe();
        world.nowMs -= 500_000;
        world.crash(false);
        world.nowMs += TIMEOUT_MS - 1;
        world.tick();
        assertThat(world.state(ID)).isEqualTo("Ongoing");
        world.nowMs++;
        world.tick();
        assertThat(world.state(ID)).isEqualTo("PrepareAbort");
    }

    @Test
    void shouldForgetNoIdByAClockThatIsNotTrustedAndStillAbortInTime() {
        InitProducerIdResponse idle = init();
        world.trustedMs = world.nowMs + 1;
        world.nowMs += 100 * TransactionWorld.LIMITS.idExpirationMs();
        world.tick();
        assertThat(world.state(ID)).isEqualTo("Empty");
        // and open transactions are still aborted
        add(idle.producerId(), idle.producerEpoch());
        world.nowMs += TIMEOUT_MS;
        world.tick();
        assertThat(world.state(ID)).isEqualTo("PrepareAbort");
    }

    @Test
    void shouldRefuseWhatCannotBeServed() {
        InitProducerIdRequest request = request().setTransactionTimeoutMs(100_001);
        assertThat(ask(4, request).errorCode()).isEqualTo(ErrorCode.INVALID_TRANSACTION_TIMEOUT.code());
        assertThat(ask(4, request().setTransactionTimeoutMs(0)).errorCode())
                .isEqualTo(ErrorCode.INVALID_TRANSACTION_TIMEOUT.code());
        assertThat(ask(4, request().setTransactionalId("")).errorCode()).isEqualTo(ErrorCode.INVALID_REQUEST.code());
        assertThat(ask(4, request().setTransactionalId("x".repeat(10_001))).errorCode())
                .isEqualTo(ErrorCode.INVALID_REQUEST.code());
        assertThat(ask(4, request().setProducerEpoch((short) 3)).errorCode())
                .isEqualTo(ErrorCode.INVALID_REQUEST.code());
        assertThat(ask(6, request().setEnable2Pc(true)).errorCode())
                .isEqualTo(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED.code());
        assertThat(ask(6, request().setKeepPreparedTxn(true)).errorCode())
                .isEqualTo(ErrorCode.UNSUPPORTED_VERSION.code());
        assertThat(world.journalLength()).isZero();
    }

    @Test
    void shouldRespondForAPartitionOnlyWhileItTakesPart() {
        InitProducerIdResponse producer = init();
        ProducerClaim claim = new ProducerClaim(ID, producer.producerId(), producer.producerEpoch());
        assertThat(verify(claim, PARTITIONS)).isEqualTo(ErrorCode.TRANSACTION_ABORTABLE);
        add(producer.producerId(), producer.producerEpoch());
        assertThat(verify(claim, PARTITIONS)).isEqualTo(ErrorCode.NONE);
        assertThat(verify(claim, List.of(new TopicPartition("c", 0)))).isEqualTo(ErrorCode.TRANSACTION_ABORTABLE);
    }

    @Test
    void shouldListWhatPassesTheFilters() {
        InitProducerIdResponse producer = init();
        add(producer.producerId(), producer.producerEpoch());
        world.nowMs += 100;
        ListTransactionsRequest all = new ListTransactionsRequest();
        assertThat(world.machine.list(all, null, world.nowMs)).hasSize(1);
        assertThat(world.machine.list(all, BoundedPattern.compile("pay.*"), world.nowMs))
                .hasSize(1);
        assertThat(world.machine.list(all, BoundedPattern.compile("pay"), world.nowMs))
                .isEmpty();
        assertThat(world.machine.list(
                        new ListTransactionsRequest().setStateFilters(List.of("Empty")), null, world.nowMs))
                .isEmpty();
        assertThat(world.machine.list(
                        new ListTransactionsRequest().setProducerIdFilters(List.of(1L)), null, world.nowMs))
                .isEmpty();
        assertThat(world.machine.list(new ListTransactionsRequest().setDurationFilter(99), null, world.nowMs))
                .hasSize(1);
        assertThat(world.machine.list(new ListTransactionsRequest().setDurationFilter(100), null, world.nowMs))
                .isEmpty();
    }

    private static InitProducerIdRequest request() {
        return new InitProducerIdRequest().setTransactionalId(ID).setTransactionTimeoutMs(TIMEOUT_MS);
    }

    private InitProducerIdResponse init() {
        return ask(4, request());
    }

    private InitProducerIdResponse init(int version, long producerId, short epoch) {
        return ask(version, request().setProducerId(producerId).setProducerEpoch(epoch));
    }

    private InitProducerIdResponse ask(int version, InitProducerIdRequest request) {
        AtomicReference<InitProducerIdResponse> response = new AtomicReference<>();
        world.machine.onInitProducerId((short) version, request, world.nowMs, world.reply(response::set));
        settle();
        return response.get();
    }

    private ErrorCode add(long producerId, short epoch) {
        AtomicReference<ErrorCode> response = new AtomicReference<>();
        world.machine.onAddPartitions(
                new ProducerClaim(ID, producerId, epoch),
                PARTITIONS,
                TransactionVersion.FIRST,
                world.nowMs,
                world.reply(response::set));
        settle();
        return response.get();
    }

    private AtomicReference<ErrorCode> produce(EndTxnResponse producer) {
        AtomicReference<ErrorCode> response = new AtomicReference<>();
        world.machine.onProduce(
                new ProducerClaim(ID, producer.producerId(), producer.producerEpoch()),
                PARTITIONS,
                world.nowMs,
                world.reply(response::set));
        settle();
        return response;
    }

    private ErrorCode verify(ProducerClaim claim, List<TopicPartition> partitions) {
        AtomicReference<ErrorCode> response = new AtomicReference<>();
        world.machine.onVerify(claim, partitions, world.reply(response::set));
        return response.get();
    }

    private EndTxnResponse end(short version, long producerId, short epoch, boolean commit) {
        AtomicReference<EndTxnResponse> response = new AtomicReference<>();
        world.machine.onEndTransaction(
                version, endRequest(producerId, epoch, commit), world.nowMs, world.reply(response::set));
        settle();
        return response.get();
    }

    private static EndTxnRequest endRequest(long producerId, short epoch, boolean commit) {
        return new EndTxnRequest()
                .setTransactionalId(ID)
                .setProducerId(producerId)
                .setProducerEpoch(epoch)
                .setCommitted(commit);
    }

    private void settle() {
        while (!world.idQuestions.isEmpty()) {
            world.giveProducerId(true);
        }
        world.makeAllSafe();
    }
}
