// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Attributes of a queue pair together with which of them were set (ibv_qp_attr and its mask). Setters check the range
 * of their value and record the attribute. Not thread-safe.
 */
public final class QueuePairAttributes {
    private final EnumSet<QueuePairAttribute> mask = EnumSet.noneOf(QueuePairAttribute.class);
    private QueuePairState state = QueuePairState.RESET;
    private int accessFlags;
    private int pkeyIndex;
    private int port = 1;
    private int qkey;
    private @Nullable AddressVector addressVector;
    private Mtu pathMtu = Mtu.MTU_1024;
    private int timeout;
    private int retryCount;
    private int rnrRetry;
    private int rqPsn;
    private int sqPsn;
    private int maxRdAtomic;
    private int maxDestRdAtomic;
    private int minRnrTimer;
    private int destinationQpNumber;

    /** Which attributes were set. */
    public Set<QueuePairAttribute> mask() {
        return Collections.unmodifiableSet(mask);
    }

    public boolean has(QueuePairAttribute attribute) {
        return mask.contains(attribute);
    }

    /** Takes over the attributes that {@code other} has set. */
    public QueuePairAttributes putAll(QueuePairAttributes other) {
        return putAll(other, other.mask);
    }

    /** Takes over those attributes of {@code other} that are set here too. */
    public QueuePairAttributes overriddenBy(QueuePairAttributes other) {
        EnumSet<QueuePairAttribute> both = EnumSet.copyOf(mask);
        both.retainAll(other.mask);
        return putAll(other, both);
    }

    private QueuePairAttributes putAll(QueuePairAttributes other, Set<QueuePairAttribute> attributes) {
        for (QueuePairAttribute attribute : attributes) {
            switch (attribute) {
                case STATE -> state = other.state;
                case ACCESS_FLAGS -> accessFlags = other.accessFlags;
                case PKEY_INDEX -> pkeyIndex = other.pkeyIndex;
                case PORT -> port = other.port;
                case QKEY -> qkey = other.qkey;
                case AV -> addressVector = other.addressVector;
                case PATH_MTU -> pathMtu = other.pathMtu;
                case TIMEOUT -> timeout = other.timeout;
                case RETRY_CNT -> retryCount = other.retryCount;
                case RNR_RETRY -> rnrRetry = other.rnrRetry;
                case RQ_PSN -> rqPsn = other.rqPsn;
                case MAX_QP_RD_ATOMIC -> maxRdAtomic = other.maxRdAtomic;
                case MIN_RNR_TIMER -> minRnrTimer = other.minRnrTimer;
                case SQ_PSN -> sqPsn = other.sqPsn;
                case MAX_DEST_RD_ATOMIC -> maxDestRdAtomic = other.maxDestRdAtomic;
                case DEST_QPN -> destinationQpNumber = other.destinationQpNumber;
            }
            mask.add(attribute);
        }
        return this;
    }

    public QueuePairState state() {
        return state;
    }

    public QueuePairAttributes state(QueuePairState value) {
        state = Objects.requireNonNull(value);
        return set(QueuePairAttribute.STATE);
    }

    /** What the peer may do: {@link AccessFlag} bits. */
    public int accessFlags() {
        return accessFlags;
    }

    public QueuePairAttributes accessFlags(AccessFlag... flags) {
        return accessFlags(AccessFlag.mask(flags));
    }

    public QueuePairAttributes accessFlags(int flags) {
        accessFlags = flags;
        return set(QueuePairAttribute.ACCESS_FLAGS);
    }

    public int pkeyIndex() {
        return pkeyIndex;
    }

    public QueuePairAttributes pkeyIndex(int value) {
        pkeyIndex = range("pkeyIndex", value, 0xffff);
        return set(QueuePairAttribute.PKEY_INDEX);
    }

    public int port() {
        return port;
    }

    public QueuePairAttributes port(int value) {
        port = range("port", value, 255);
        return set(QueuePairAttribute.PORT);
    }

    public int qkey() {
        return qkey;
    }

    public QueuePairAttributes qkey(int value) {
        qkey = value;
        return set(QueuePairAttribute.QKEY);
    }

    public @Nullable AddressVector addressVector() {
        return addressVector;
    }

    public QueuePairAttributes addressVector(AddressVector value) {
        addressVector = Objects.requireNonNull(value);
        return set(QueuePairAttribute.AV);
    }

    public Mtu pathMtu() {
        return pathMtu;
    }

    public QueuePairAttributes pathMtu(Mtu value) {
        pathMtu = Objects.requireNonNull(value);
        return set(QueuePairAttribute.PATH_MTU);
    }

    /** The local ACK timeout: 4.096 us * 2^timeout, 0 for none (IBTA volume 1, 9.7.6.1.3). */
    public int timeout() {
        return timeout;
    }

    public QueuePairAttributes timeout(int value) {
        timeout = range("timeout", value, 31);
        return set(QueuePairAttribute.TIMEOUT);
    }

    /** Retries after a lost packet before the work fails, 0 to 7. */
    public int retryCount() {
        return retryCount;
    }

    public QueuePairAttributes retryCount(int value) {
        retryCount = range("retryCount", value, 7);
        return set(QueuePairAttribute.RETRY_CNT);
    }

    /** Retries after "receiver not ready", 0 to 6; 7 for ever. */
    public int rnrRetry() {
        return rnrRetry;
    }

    public QueuePairAttributes rnrRetry(int value) {
        rnrRetry = range("rnrRetry", value, 7);
        return set(QueuePairAttribute.RNR_RETRY);
    }

    public int rqPsn() {
        return rqPsn;
    }

    public QueuePairAttributes rqPsn(int value) {
        rqPsn = range("rqPsn", value, 0xffffff);
        return set(QueuePairAttribute.RQ_PSN);
    }

    public int sqPsn() {
        return sqPsn;
    }

    public QueuePairAttributes sqPsn(int value) {
        sqPsn = range("sqPsn", value, 0xffffff);
        return set(QueuePairAttribute.SQ_PSN);
    }

    /** READs and atomics that this side may have outstanding. */
    public int maxRdAtomic() {
        return maxRdAtomic;
    }

    public QueuePairAttributes maxRdAtomic(int value) {
        maxRdAtomic = range("maxRdAtomic", value, 255);
        return set(QueuePairAttribute.MAX_QP_RD_ATOMIC);
    }

    /** READs and atomics that the peer may have outstanding here. */
    public int maxDestRdAtomic() {
        return maxDestRdAtomic;
    }

    public QueuePairAttributes maxDestRdAtomic(int value) {
        maxDestRdAtomic = range("maxDestRdAtomic", value, 255);
        return set(QueuePairAttribute.MAX_DEST_RD_ATOMIC);
    }

    /**
     * How long a peer that met "receiver not ready" shall wait: a code of the table in IBTA volume 1, 9.7.5.2.8; 0 is
     * 655 ms, 12 is 640 us.
     */
    public int minRnrTimer() {
        return minRnrTimer;
    }

    public QueuePairAttributes minRnrTimer(int value) {
        minRnrTimer = range("minRnrTimer", value, 31);
        return set(QueuePairAttribute.MIN_RNR_TIMER);
    }

    public int destinationQpNumber() {
        return destinationQpNumber;
    }

    public QueuePairAttributes destinationQpNumber(int value) {
        destinationQpNumber = range("destinationQpNumber", value, 0xffffff);
        return set(QueuePairAttribute.DEST_QPN);
    }

    private QueuePairAttributes set(QueuePairAttribute attribute) {
        mask.add(attribute);
        return this;
    }

    private static int range(String name, int value, int max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(name + " is " + value + "; 0 to " + max + " is possible");
        }
        return value;
    }
}
