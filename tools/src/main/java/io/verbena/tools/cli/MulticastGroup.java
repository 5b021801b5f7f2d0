// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import io.verbena.verbs.Gid;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a multicast group from the command line: an address, or perftest's 16 numbers with colons between them. */
public final class MulticastGroup implements ITypeConverter<Gid> {
    /** What the peer names in place of a queue pair: all that hear the group (IBTA volume 1, 10.5.1). */
    public static final int QP_NUMBER = 0xffffff;

    private static final int GID_BYTES = 16;

    @Override
    public Gid convert(String value) {
        try {
            String[] numbers = value.split(":", -1);
            Gid gid = numbers.length == GID_BYTES ? ofNumbers(numbers) : ofAddress(value);
            if (gid.toAddress().isMulticastAddress()) {
                return gid;
            }
        } catch (UnknownHostException | IllegalArgumentException e) {
            // Told below.
        }
        throw new TypeConversionException("\"" + value + "\" is no multicast group; 239.1.2.3 and ff15::7 are, and so"
                + " are 16 numbers such as 0:0:0:0:0:0:0:0:0:0:255:255:239:1:2:3");
    }

    private static Gid ofAddress(String value) throws UnknownHostException {
        // A name would be looked up; only digits and colons are an address.
        if (!value.matches("[0-9a-fA-F:.]+")) {
            throw new IllegalArgumentException("no address");
        }
        return Gid.of(InetAddress.getByName(value));
    }

    private static Gid ofNumbers(String[] numbers) {
        ByteBuffer bytes = ByteBuffer.allocate(GID_BYTES);
        for (String number : numbers) {
            int octet = Integer.decode(number);
            if (octet < 0 || octet > 255) {
                throw new IllegalArgumentException("no octet");
            }
            bytes.put((byte) octet);
        }
        return new Gid(bytes.getLong(0), bytes.getLong(8));
    }
}
