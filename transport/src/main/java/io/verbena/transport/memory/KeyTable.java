// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.memory;

import io.verbena.transport.queue.SeededRandom;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds the region of a key in constant time. A key is a random 24-bit index and a random 8-bit tag; a region has two,
 * one for local and one for remote use, and each works only for its use. A memory window has one, for remote use, whose
 * tag changes with each bind. A freed index rests before it is given out again. Owned by the port's engine.
 */
public final class KeyTable {
    private static final int INDEX_SHIFT = 8;
    private static final int INDEX_MASK = 0xffffff;
    /** Freed indices that are not used again until as many others were freed after them. */
    private static final int RESTING = 1024;

    private final SeededRandom random;
    private final int regionsMax;
    private int[] keys = new int[64];
    private @Nullable Region[] regions = new Region[64];
    private int used;
    private int regionCount;
    private final int[] resting = new int[RESTING];
    private int restingNext;
    private boolean vanished;

    public KeyTable(SeededRandom random, int regionsMax) {
        this.random = random;
        this.regionsMax = regionsMax;
        Arrays.fill(resting, -1);
    }

    /** Adds a region and gives it its keys; false when the table holds as many as it may. */
    public boolean add(Region region) {
        if (regionCount == regionsMax) {
            return false;
        }
        int lkey = newKey();
        put(lkey, region);
        int rkey = newKey();
        put(rkey, region);
        region.keys(lkey, rkey);
        regionCount++;
        return true;
    }

    /** Removes a region: both keys stop working at once. */
    public void remove(Region region) {
        if (removeKey(region.lkey())) {
            removeKey(region.rkey());
            regionCount--;
        }
    }

    /** Puts a region in the place of another, under the same keys. */
    public void replace(Region region, Region successor) {
        successor.keys(region.lkey(), region.rkey());
        regions[slotOfIndex(region.lkey() >>> INDEX_SHIFT)] = successor;
        regions[slotOfIndex(region.rkey() >>> INDEX_SHIFT)] = successor;
    }

    /** Adds a window and gives it a key, which names nothing until it is bound. */
    public void add(Window window) {
        int rkey = newKey();
        put(rkey, window);
        window.keys(0, rkey);
    }

    /** Removes a window, bound or not: its key stops working at once. */
    public void remove(Window window) {
        if (removeKey(window.rkey())) {
            window.unbind();
        }
    }

    /**
     * Binds a window. Its key becomes {@code newRkey}, which finds the window by its index alone.
     *
     * @param lkey of the region; means nothing when {@code bytes} is 0
     * @param queuePair whose work this is, and its protection domain
     * @return false, and nothing has changed, when it may not be bound so
     */
    public boolean bind(
            int newRkey, int lkey, long address, long bytes, int access, int protectionDomain, Object queuePair) {
        int slot = slotOfIndex(newRkey >>> INDEX_SHIFT);
        Region region = bytes == 0 ? null : local(lkey);
        if (slot < 0
                || !(regions[slot] instanceof Window window)
                || !window.mayBind(region, address, bytes, access, protectionDomain)) {
            return false;
        }
        window.bind(region, address, bytes, access, queuePair);
        // Keys of one index have one place.
        keys[slot] = newRkey;
        window.keys(0, newRkey);
        return true;
    }

    /** Takes the rights of the window that has exactly this key back; false when this queue pair may not. */
    public boolean invalidate(int rkey, int protectionDomain, Object queuePair) {
        if (find(rkey) instanceof Window window && window.mayInvalidate(protectionDomain, queuePair)) {
            window.unbind();
            return true;
        }
        return false;
    }

    /** How many regions there are; windows do not count. */
    public int size() {
        return regionCount;
    }

    /** The region that {@code lkey} names for local use, or null. */
    public @Nullable Region local(int lkey) {
        Region region = find(lkey);
        return region != null && region.lkey() == lkey ? region : null;
    }

    /** The region or bound window that {@code rkey} names for a peer, or null. */
    public @Nullable Region remote(int rkey) {
        Region region = find(rkey);
        return region != null && region.rkey() == rkey && region.length() > 0 ? region : null;
    }

    /** Checks a region against a request; see {@link AccessVerdict}. */
    public static AccessVerdict check(
            @Nullable Region region, int protectionDomain, int right, long virtualAddress, long bytes) {
        if (region == null) {
            return AccessVerdict.NO_SUCH_KEY;
        }
        if (region.protectionDomain() != protectionDomain) {
            return AccessVerdict.WRONG_PROTECTION_DOMAIN;
        }
        if ((region.access() & right) != right) {
            return AccessVerdict.MISSING_RIGHT;
        }
        return region.contains(virtualAddress, bytes) ? AccessVerdict.OK : AccessVerdict.OUT_OF_RANGE;
    }

    /** Notes that the memory behind a region was found to be gone while it was used; always false. */
    public boolean vanished() {
        vanished = true;
        return false;
    }

    /**
     * Whether memory was found to be gone since the last call. The Java virtual machine interrupts a thread whose
     * access it breaks off because another thread closed the arena; who drives the engine takes that interrupt back.
     */
    public boolean takeVanished() {
        boolean result = vanished;
        vanished = false;
        return result;
    }

    private @Nullable Region find(int key) {
        int mask = keys.length - 1;
        int slot = hash(key) & mask;
        for (Region region = regions[slot]; region != null; region = regions[slot]) {
            if (keys[slot] == key) {
                return region;
            }
            slot = (slot + 1) & mask;
        }
        return null;
    }

    private int newKey() {
        while (true) {
            int key = random.nextInt();
            int index = (key >>> INDEX_SHIFT) & INDEX_MASK;
            if (index != 0 && slotOfIndex(index) < 0 && !isResting(index)) {
                return key;
            }
        }
    }

    /** Where the key with this index lies, or -1. */
    private int slotOfIndex(int index) {
        // Keys of one index differ in the tag only and hash alike, so they lie in one probe run.
        int mask = keys.length - 1;
        int slot = hash(index << INDEX_SHIFT) & mask;
        for (; regions[slot] != null; slot = (slot + 1) & mask) {
            if (keys[slot] >>> INDEX_SHIFT == index) {
                return slot;
            }
        }
        return -1;
    }

    private boolean isResting(int index) {
        for (int rest : resting) {
            if (rest == index) {
                return true;
            }
        }
        return false;
    }

    private void put(int key, Region region) {
        if (2 * (used + 1) > keys.length) {
            grow();
        }
        int mask = keys.length - 1;
        int slot = hash(key) & mask;
        while (regions[slot] != null) {
            slot = (slot + 1) & mask;
        }
        keys[slot] = key;
        regions[slot] = region;
        used++;
    }

    private boolean removeKey(int key) {
        int mask = keys.length - 1;
        int slot = hash(key) & mask;
        while (regions[slot] != null && keys[slot] != key) {
            slot = (slot + 1) & mask;
        }
        if (regions[slot] == null) {
            return false;
        }
        resting[restingNext] = key >>> INDEX_SHIFT;
        restingNext = (restingNext + 1) % RESTING;
        used--;
        closeGap(slot, mask);
        return true;
    }

    /** Linear probing without tombstones: later entries of the run move up. */
    private void closeGap(int gap, int mask) {
        int slot = gap;
        while (true) {
            slot = (slot + 1) & mask;
            Region region = regions[slot];
            if (region == null) {
                break;
            }
            int home = hash(keys[slot]) & mask;
            if (((slot - home) & mask) >= ((slot - gap) & mask)) {
                keys[gap] = keys[slot];
                regions[gap] = region;
                gap = slot;
            }
        }
        regions[gap] = null;
    }

    private void grow() {
        int[] oldKeys = keys;
        @Nullable Region[] oldRegions = regions;
        keys = new int[oldKeys.length * 2];
        regions = new Region[oldKeys.length * 2];
        used = 0;
        for (int i = 0; i < oldKeys.length; i++) {
            Region region = oldRegions[i];
            if (region != null) {
                put(oldKeys[i], region);
            }
        }
    }

    private static int hash(int key) {
        int h = (key >>> INDEX_SHIFT) * 0x9E3779B9;
        return h ^ (h >>> 15);
    }
}
