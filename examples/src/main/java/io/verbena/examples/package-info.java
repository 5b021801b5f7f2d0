// SPDX-License-Identifier: Apache-2.0
/** Programs of librdmacm's examples, to be read beside the originals: rdma_client, rdma_server, ucmatose, udaddy. */
@NullMarked
package io.verbena.examples;

import org.jspecify.annotations.NullMarked;
