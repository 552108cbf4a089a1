package io.idempotency.it.ai;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;

import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** A tool whose record is in the transaction of its work. */
public class LedgerTools {

	private final JdbcTemplate jdbc;

	LedgerTools(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
		jdbc.execute("create table if not exists debits (id varchar(64))");
	}

	@McpTool(name = "debit", description = "Books a debit, and says that its mail has failed")
	@Transactional
	@Idempotent(transaction = TransactionMode.JOIN)
	public CallToolResult debit(String id) {
		this.jdbc.update("insert into debits (id) values (?)", id);
		return CallToolResult.builder().isError(true).addTextContent("no mail").build();
	}

}
