// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.queue.SeededRandom;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryWindowType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class KeyTableTest {
    private static final int REST = 1024;
    private final MemorySegment memory = Arena.ofAuto().allocate(4096, 8);

    private Region region() {
        return new Region(memory, 15, 1);
    }

    /** Against two maps; freed indices rest until 1024 others were freed. */
    @Test
    void behavesAsTwoMaps() {
        for (int seed = 0; seed < 20; seed++) {
            Random random = new Random(seed);
            int max = 1 + random.nextInt(400);
            KeyTable table = new KeyTable(new SeededRandom(seed), max);
            List<Region> live = new ArrayList<>();
            Map<Integer, Region> local = new HashMap<>();
            Map<Integer, Region> remote = new HashMap<>();
            Deque<Integer> rested = new ArrayDeque<>();
            for (int step = 0; step < 3000; step++) {
                if (random.nextInt(5) < 3) {
                    Region region = region();
                    assertThat(table.add(region)).isEqualTo(live.size() < max);
                    if (live.size() == max) {
                        continue;
                    }
                    live.add(region);
                    assertThat(local.put(region.lkey(), region)).isNull();
                    assertThat(remote.put(region.rkey(), region)).isNull();
                    assertThat(region.lkey() >>> 8).isNotEqualTo(region.rkey() >>> 8);
                    assertThat(rested).doesNotContain(region.lkey() >>> 8, region.rkey() >>> 8);
                } else if (!live.isEmpty()) {
                    Region region = live.remove(random.nextInt(live.size()));
                    table.remove(region);
                    table.remove(region);
                    local.remove(region.lkey());
                    remote.remove(region.rkey());
                    rested.add(region.lkey() >>> 8);
                    rested.add(region.rkey() >>> 8);
                    while (rested.size() > REST) {
                        rested.remove();
                    }
                    assertThat(table.local(region.lkey())).isNull();
                    assertThat(table.remote(region.rkey())).isNull();
                }
                assertThat(table.size()).isEqualTo(live.size());
                int any = random.nextInt();
                assertThat(table.local(any)).isSameAs(local.get(any));
            }
            for (Region region : live) {
                assertThat(table.local(region.lkey())).isSameAs(region);
                assertThat(table.remote(region.rkey())).isSameAs(region);
                assertThat(table.local(region.rkey()))
                        .as("an rkey is not for local use")
                        .isNull();
                assertThat(table.remote(region.lkey()))
                        .as("an lkey is not for a peer")
                        .isNull();
                assertThat(table.remote(region.rkey() ^ 1)).as("the tag counts").isNull();
            }
        }
    }

    /** Keys cannot be told from those before. */
    @Test
    void keysAreNotInOrder() {
        KeyTable table = new KeyTable(new SeededRandom(1), 1000);
        int ascending = 0;
        int last = 0;
        for (int i = 0; i < 1000; i++) {
            Region region = region();
            table.add(region);
            ascending += region.rkey() > last ? 1 : 0;
            last = region.rkey();
        }
        assertThat(ascending).isBetween(400, 600);
    }

    @Test
    void checksInTheOrderOfTheSpecification() {
        Region region = new Region(memory, AccessFlag.REMOTE_READ.code(), 1);
        int read = AccessFlag.REMOTE_READ.code();
        long start = region.address();
        assertThat(KeyTable.check(null, 1, read, start, 1)).isEqualTo(AccessVerdict.NO_SUCH_KEY);
        assertThat(KeyTable.check(region, 2, read, start, 1)).isEqualTo(AccessVerdict.WRONG_PROTECTION_DOMAIN);
        assertThat(KeyTable.check(region, 1, AccessFlag.REMOTE_WRITE.code(), start, 1))
                .isEqualTo(AccessVerdict.MISSING_RIGHT);
        assertThat(KeyTable.check(region, 1, read, start, 4096)).isEqualTo(AccessVerdict.OK);
        long[][] outside = {
            {start, 4097}, {start + 1, 4096}, {start - 1, 1}, {start + 4096, 1}, {start - 4096, 1L << 31},
            {-1, 1L << 31}, {Long.MIN_VALUE, 1}, {0, 0xffff_ffffL}, {start + Long.MIN_VALUE, 1}, {start, Long.MAX_VALUE}
        };
        for (long[] range : outside) {
            assertThat(KeyTable.check(region, 1, read, range[0], range[1])).isEqualTo(AccessVerdict.OUT_OF_RANGE);
        }
        assertThat(KeyTable.check(region, 1, read, start + 4096, 0)).isEqualTo(AccessVerdict.OK);
    }

    /** Windows of both types bound, invalidated and removed, regions registered again, against a model. */
    @Test
    void windowsFollowAModel() {
        for (int seed = 0; seed < 20; seed++) {
            new WindowModel(seed).run();
        }
    }

    private final class WindowModel {
        private static final int ACCESS = 0x1f;
        private final Random random;
        private final KeyTable table;
        private final List<Region> targets = new ArrayList<>();
        private final List<Window> windows = new ArrayList<>();
        private final Map<Window, Integer> keys = new HashMap<>();
        private final Map<Window, MemoryWindowType> types = new HashMap<>();
        private final Map<Window, Integer> boundTo = new HashMap<>();
        private final Map<Window, Object> binders = new HashMap<>();
        private final Object[] queuePairs = {"one", "two"};

        WindowModel(int seed) {
            random = new Random(seed);
            table = new KeyTable(new SeededRandom(seed), 100);
            for (int i = 0; i < 4; i++) {
                targets.add(new Region(memory, ACCESS, 1));
                table.add(targets.get(i));
            }
        }

        void run() {
            for (int step = 0; step < 2000; step++) {
                int choice = random.nextInt(8);
                if (choice == 0 || windows.isEmpty()) {
                    allocate();
                } else if (choice < 5) {
                    bind(windows.get(random.nextInt(windows.size())));
                } else if (choice == 5) {
                    invalidate(windows.get(random.nextInt(windows.size())));
                } else if (choice == 6) {
                    remove(random.nextInt(windows.size()));
                } else {
                    replace(random.nextInt(targets.size()));
                }
                check();
            }
        }

        private void allocate() {
            MemoryWindowType type = MemoryWindowType.values()[random.nextInt(2)];
            Window window = new Window(type, 1);
            table.add(window);
            windows.add(window);
            types.put(window, type);
            keys.put(window, window.rkey());
        }

        private void bind(Window window) {
            int key = (keys.get(window) & ~0xff) | random.nextInt(256);
            int target = random.nextInt(targets.size());
            Object queuePair = queuePairs[random.nextInt(2)];
            int bytes = random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(100);
            boolean typeOne = types.get(window) == MemoryWindowType.TYPE_1;
            boolean allowed = typeOne || (bytes > 0 && !boundTo.containsKey(window));
            int lkey = targets.get(target).lkey();
            assertThat(table.bind(key, lkey, memory.address(), bytes, 2, 1, queuePair))
                    .isEqualTo(allowed);
            if (!allowed) {
                return;
            }
            keys.put(window, key);
            boundTo.remove(window);
            if (bytes > 0) {
                boundTo.put(window, target);
                binders.put(window, queuePair);
            }
        }

        private void invalidate(Window window) {
            int key = random.nextInt(4) == 0 ? keys.get(window) ^ 1 : keys.get(window);
            Object queuePair = queuePairs[random.nextInt(2)];
            boolean allowed = key == keys.get(window)
                    && types.get(window) == MemoryWindowType.TYPE_2
                    && (!boundTo.containsKey(window) || binders.get(window).equals(queuePair));
            assertThat(table.invalidate(key, 1, queuePair)).isEqualTo(allowed);
            if (allowed) {
                boundTo.remove(window);
            }
        }

        private void remove(int index) {
            Window window = windows.remove(index);
            table.remove(window);
            table.remove(window);
            boundTo.remove(window);
            assertThat(table.remote(keys.get(window))).isNull();
        }

        private void replace(int index) {
            Region old = targets.get(index);
            if (old.windows() == 0) {
                Region successor = new Region(memory.asSlice(0, 2048), ACCESS, 1);
                table.replace(old, successor);
                assertThat(successor.lkey()).isEqualTo(old.lkey());
                assertThat(successor.rkey()).isEqualTo(old.rkey());
                targets.set(index, successor);
            }
        }

        private void check() {
            assertThat(table.size()).isEqualTo(targets.size());
            for (int i = 0; i < targets.size(); i++) {
                Region target = targets.get(i);
                int index = i;
                assertThat(table.local(target.lkey())).isSameAs(target);
                assertThat(table.remote(target.rkey())).isSameAs(target);
                assertThat(target.windows()).isEqualTo((int)
                        boundTo.values().stream().filter(to -> to == index).count());
            }
            for (Window window : windows) {
                int key = keys.get(window);
                assertThat(table.remote(key)).isSameAs(boundTo.containsKey(window) ? window : null);
                assertThat(table.remote(key ^ 1)).isNull();
                assertThat(table.local(key)).isNull();
                assertThat(window.rkey()).isEqualTo(key);
            }
        }
    }
}
