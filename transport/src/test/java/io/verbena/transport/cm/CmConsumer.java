// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A consumer that writes down what it is told. */
public class CmConsumer implements CmEvents {
    public final List<String> events = new ArrayList<>();
    public final List<Conversation> requests = new ArrayList<>();
    final List<SidrConversation> questions = new ArrayList<>();
    RequestParameters request;
    AcceptParameters reply;
    byte[] privateData;
    SidrReply sidrReply;
    /** What the consumer does at once. */
    public Consumer<Conversation> onRequest = c -> {};

    public Consumer<Conversation> onReply = c -> {};
    public Consumer<Conversation> onDisconnected = c -> {};

    @Override
    public void connectRequest(CmListener listener, Conversation conversation, RequestParameters parameters) {
        events.add("request");
        request = parameters;
        requests.add(conversation);
        onRequest.accept(conversation);
    }

    @Override
    public void replied(Conversation conversation, AcceptParameters parameters) {
        events.add("replied");
        reply = parameters;
        onReply.accept(conversation);
    }

    @Override
    public void established(Conversation conversation, byte[] data) {
        events.add("established");
        privateData = data;
    }

    @Override
    public void rejected(Conversation conversation, int reason, byte[] data) {
        events.add("rejected " + reason);
        privateData = data;
    }

    @Override
    public void unreachable(Conversation conversation) {
        events.add("unreachable");
    }

    @Override
    public void disconnected(Conversation conversation) {
        events.add("disconnected");
        onDisconnected.accept(conversation);
    }

    @Override
    public void timewaitExit(Conversation conversation) {
        events.add("timewait exit");
    }

    @Override
    public void sidrRequest(CmListener listener, SidrConversation conversation, byte[] data) {
        events.add("sidr request");
        privateData = data;
        questions.add(conversation);
    }

    @Override
    public void sidrReplied(SidrConversation conversation, SidrReply answer) {
        events.add("sidr replied " + answer.status());
        sidrReply = answer;
    }

    @Override
    public void sidrUnreachable(SidrConversation conversation) {
        events.add("sidr unreachable");
    }
}
