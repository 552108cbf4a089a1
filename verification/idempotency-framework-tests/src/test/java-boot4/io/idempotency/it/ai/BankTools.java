package io.idempotency.it.ai;

import java.util.List;
import java.util.Map;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;

import org.springframework.ai.mcp.annotation.McpMeta;
import org.springframework.ai.mcp.annotation.McpProgressToken;
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.ai.mcp.annotation.McpToolParam;
import org.springframework.ai.mcp.annotation.context.McpSyncRequestContext;
import org.springframework.beans.factory.ObjectProvider;

/** Tools of a server; the annotations have another package on the other line. */
class BankTools {

	private final Bank bank;

	private final ObjectProvider<Orders> orders;

	BankTools(Bank bank, ObjectProvider<Orders> orders) {
		this.bank = bank;
		this.orders = orders;
	}

	@McpTool(description = "Pays money back")
	@Idempotent
	public String refund(@McpToolParam(description = "The order") String order,
			@McpToolParam(description = "The amount in cents") int amount) {
		return this.bank.pay("refund of " + amount + " for " + order);
	}

	@McpTool(description = "Charges a card", generateOutputSchema = true)
	@Idempotent(key = "@idempotencyToolCall.sessionAndArguments()")
	public Bank.Receipt charge(String card, int amount, McpMeta meta, @McpProgressToken String progress,
			McpSyncRequestContext context) {
		return this.bank.charge(card, amount);
	}

	@McpTool(description = "Sends money")
	@Idempotent(body = "/attempt")
	public String send(String recipient, String attempt) {
		return this.bank.pay("sent to " + recipient);
	}

	@McpTool(description = "Closes an account")
	@Idempotent(key = "#account")
	public void close(String account) {
		this.bank.pay("closed " + account);
	}

	@McpTool(description = "Ships what the arguments say")
	@Idempotent
	public CallToolResult ship(CallToolRequest request) {
		String done = this.bank.pay("shipped " + request.arguments().get("parcel"));
		return CallToolResult.builder()
			.addTextContent(done)
			.structuredContent(Map.of("stops", List.of("Rome", "Oslo"), "done", done))
			.build();
	}

	@McpTool(description = "Packs what the arguments say besides")
	@Idempotent
	public String pack(@McpToolParam String order, CallToolRequest request) {
		return this.bank.pay("packed " + request.arguments().get("amount") + " for " + order);
	}

	@McpTool(description = "Weighs what the arguments of the context say")
	@Idempotent(key = "@idempotencyToolCall.sessionAndArguments()")
	public String weigh(McpSyncRequestContext context) {
		return this.bank.pay("weighed " + ((CallToolRequest) context.request()).arguments().get("parcel"));
	}

	@McpTool(description = "Votes")
	@Idempotent(mode = IdempotencyMode.REJECT)
	public String vote(String option) {
		return this.bank.pay("voted for " + option);
	}

	@McpTool(description = "Takes long")
	@Idempotent
	public String slow() throws InterruptedException {
		return this.bank.payWhenOpened("slow");
	}

	@McpTool(description = "Fails")
	@Idempotent
	public String fail() {
		throw new IllegalStateException("failed: " + this.bank.pay("failure"));
	}

	@McpTool(description = "Answers with an error")
	@Idempotent
	public CallToolResult decline() {
		return CallToolResult.builder().isError(true).addTextContent(this.bank.pay("declined")).build();
	}

	@McpTool(description = "Answers with an error that is remembered")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public CallToolResult declineForGood() {
		return CallToolResult.builder().isError(true).addTextContent(this.bank.pay("declined for good")).build();
	}

	@McpTool(description = "Calls a guarded service")
	public String order(String item) {
		return this.orders.getObject().order(item);
	}

	@McpTool(description = "Does something itself, and calls a guarded service")
	@Idempotent
	public String orderAndPay(String item) {
		this.bank.pay("paid for " + item);
		return this.orders.getObject().order(item);
	}

	@McpTool(description = "Is not guarded")
	public String look() {
		return "Looked " + this.bank.pay("look");
	}

}
