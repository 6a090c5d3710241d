// One compiled grammar, shared by threads, and the matchers that run on it.
//
// A grammar's tables grow as it is used, under one lock that is held for microseconds; what is remembered serves all
// matchers. A matcher belongs to one sequence: a stack of states, one per token, so that rollback is a pop.
#pragma once

#include <mutex>
#include <optional>

#include "reach.hpp"

namespace constrain {

struct Compiled {
  Automaton automaton;
  std::shared_ptr<Vocab> vocab;
  std::optional<MaskEngine> masks;
  std::optional<TokenReach> reach;  // only where bytes are not enough
  std::mutex mutex;
  void fill(State s, u32* row) {
    if (reach) reach->fill(s, row);
    else masks->fill(s, row);
  }
  bool start_is_alive() { return !reach || reach->alive(automaton.start()); }
  Compiled(const ByteSet& alphabet, const Limits& limits) : automaton(alphabet, limits) {}
  void use(std::shared_ptr<Vocab> v, size_t limit_bytes) {
    vocab = std::move(v);
    masks.emplace(automaton, vocab, limit_bytes);
    if (vocab->whole_tokens()) reach.emplace(automaton, *masks, vocab);
  }
};

class Matcher {
 public:
  explicit Matcher(std::shared_ptr<Compiled> grammar) : grammar_(std::move(grammar)) {
    states_.push_back(grammar_->automaton.start());
    lengths_.push_back(0);
  }
  Compiled& grammar() { return *grammar_; }
  State state() const { return states_.back(); }
  bool terminated() const { return terminated_; }
  bool complete() const { return grammar_->automaton.accepts(states_.back()); }
  const std::string& text() const { return text_; }
  size_t tokens() const { return states_.size() - 1; }

  // All below: the caller holds the grammar's lock. A rejected token changes nothing.
  bool advance(u32 token) {
    if (terminated_ || token >= grammar_->vocab->size()) return false;
    State s = state();
    if (grammar_->vocab->is_end(token)) {
      if (!complete()) return false;
      terminated_ = true;
    } else {
      const std::string& bytes = grammar_->vocab->token(token);
      if (bytes.empty()) return false;
      for (char c : bytes) {
        s = grammar_->automaton.step(s, static_cast<u8>(c));
        if (s == kDead) return false;
      }
      if (grammar_->reach && !grammar_->reach->alive(s)) return false;
      text_ += bytes;
    }
    states_.push_back(s);
    lengths_.push_back(text_.size());
    return true;
  }
  void rollback(size_t n) {
    if (n == 0) return;
    states_.resize(states_.size() - n);
    lengths_.resize(lengths_.size() - n);
    text_.resize(lengths_.back());
    terminated_ = false;
  }
  // A shortest completion as text, and its tokens where only these can say.
  std::string completion(std::vector<u32>& tokens) {
    if (!grammar_->reach) return grammar_->automaton.completion(state());
    tokens = grammar_->reach->completion(state());
    std::string out;
    for (u32 t : tokens) out += grammar_->vocab->token(t);
    return out;
  }
  // The bytes that must come next whatever is chosen, up to `limit`.
  std::string forced(size_t limit) {
    std::string out;
    State s = state();
    if (grammar_->reach) return out;  // bytes say nothing of tokens there
    while (!terminated_ && out.size() < limit && !grammar_->automaton.accepts(s)) {
      ByteSet legal = grammar_->automaton.legal_bytes(s);
      if (legal.count() != 1) break;
      legal.each([&](u8 b) {
        out.push_back(static_cast<char>(b));
        s = grammar_->automaton.step(s, b);
      });
    }
    return out;
  }

 private:
  std::shared_ptr<Compiled> grammar_;
  std::vector<State> states_;
  std::vector<size_t> lengths_;
  std::string text_;
  bool terminated_ = false;
};

}  // namespace constrain
