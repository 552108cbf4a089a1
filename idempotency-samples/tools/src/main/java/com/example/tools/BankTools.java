package com.example.tools;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.idempotency.Idempotent;

import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;
import org.springframework.stereotype.Component;

/** Tools that an agent may call more than once. */
@Component
public class BankTools {

	private final List<String> done = new CopyOnWriteArrayList<>();

	/** The client of the agent creates the key and sends it beside the arguments. */
	@Tool(description = "Pays money back for an order")
	@Idempotent
	public String refund(@ToolParam(description = "The order") String order,
			@ToolParam(description = "The amount in cents") int cents) {
		return done("refund of " + cents + " cents for " + order);
	}

	/** The model creates the key, because the description asks it to. */
	@Tool(description = "Sends money")
	@Idempotent(body = "/attempt")
	public String send(@ToolParam(description = "Who gets it") String recipient,
			@ToolParam(description = "The amount in cents") int cents, @ToolParam(
					description = "A new UUID for each payment; the same one when you repeat a call") String attempt) {
		return done(cents + " cents sent to " + recipient);
	}

	/** The account is the key, because an account is closed only once. */
	@Tool(description = "Closes an account")
	@Idempotent(key = "#account")
	public String close(@ToolParam(description = "The account") String account) {
		return done("closed " + account);
	}

	private String done(String what) {
		this.done.add(what);
		return what + ", number " + this.done.size();
	}

	List<String> done() {
		return this.done;
	}

}
